// Streams, events, graphs: thin owners of the driver's handles.
#include "runtime/launch/stream.h"

namespace nereid {

using cuda::CurrentContext;

Result<Stream> Stream::create(std::shared_ptr<const cuda::Context> context) {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context));
  Stream stream;
  NEREID_CHECK_OK(context->driver().check(context->driver().api().stream_create(&stream.handle_, cuda::kStreamNonBlocking),
                                          "cuStreamCreate", context->device().name));
  stream.context_ = std::move(context);
  return stream;
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if (!handle_) return;
  if (auto current = CurrentContext::enter(*context_)) context_->driver().api().stream_destroy(handle_);
}

Status Stream::synchronize() const {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().stream_sync(handle_), "cuStreamSynchronize", context_->device().name);
}

Result<Event> Event::create(std::shared_ptr<const cuda::Context> context) {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context));
  Event event;
  NEREID_CHECK_OK(
      context->driver().check(context->driver().api().event_create(&event.handle_, 0), "cuEventCreate", context->device().name));
  event.context_ = std::move(context);
  return event;
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (!handle_) return;
  if (auto current = CurrentContext::enter(*context_)) context_->driver().api().event_destroy(handle_);
}

Status Event::record(cuda::StreamHandle stream) {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().event_record(handle_, stream), "cuEventRecord",
                                  context_->device().name);
}

Status Event::synchronize() const {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().event_sync(handle_), "cuEventSynchronize", context_->device().name);
}

Result<float> Event::millisecondsSince(const Event& start) const {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context_));
  float ms = 0;
  NEREID_CHECK_OK(context_->driver().check(context_->driver().api().event_elapsed(&ms, start.handle_, handle_),
                                           "cuEventElapsedTime", context_->device().name));
  return ms;
}

Result<Graph> Graph::capture(const Stream& stream, const std::function<Status()>& enqueue) {
  std::shared_ptr<const cuda::Context> context = stream.context();
  const cuda::Driver& driver = context->driver();
  const cuda::Api& api = driver.api();
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context));
  // Thread-local: what other threads do with the context is none of this capture's business.
  NEREID_CHECK_OK(driver.check(api.capture_begin(stream.handle(), cuda::CaptureMode::kThreadLocal), "cuStreamBeginCapture_v2",
                               context->device().name));
  const Status enqueued = enqueue();
  cuda::GraphHandle captured = nullptr;
  const cuda::Error ended = api.capture_end(stream.handle(), &captured);
  Graph graph;
  cuda::Error made = cuda::Error::kSuccess;
  if (enqueued.ok() && ended == cuda::Error::kSuccess) made = api.graph_instantiate(&graph.handle_, captured, 0);
  if (captured) api.graph_destroy(captured);
  if (!enqueued.ok()) return enqueued.diag();
  NEREID_CHECK_OK(driver.check(ended, "cuStreamEndCapture", context->device().name));
  NEREID_CHECK_OK(driver.check(made, "cuGraphInstantiateWithFlags", context->device().name));
  graph.context_ = std::move(context);
  return graph;
}

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Graph::~Graph() {
  if (!handle_) return;
  if (auto current = CurrentContext::enter(*context_)) context_->driver().api().graph_exec_destroy(handle_);
}

Status Graph::replay(cuda::StreamHandle stream) const {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().graph_launch(handle_, stream), "cuGraphLaunch",
                                  context_->device().name);
}

}  // namespace nereid
