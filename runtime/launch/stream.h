// Streams, events and captured graphs with owners. All keep their context alive; they move and do not copy.
#pragma once
#include <functional>
#include <memory>

#include "runtime/driver/context.h"

namespace nereid {

class Stream {
 public:
  // Does not wait for the default stream.
  static Result<Stream> create(std::shared_ptr<const cuda::Context> context);
  Stream(Stream&& other) noexcept { *this = std::move(other); }
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();
  cuda::StreamHandle handle() const { return handle_; }
  const std::shared_ptr<const cuda::Context>& context() const { return context_; }
  Status synchronize() const;

 private:
  Stream() = default;
  std::shared_ptr<const cuda::Context> context_;
  cuda::StreamHandle handle_ = nullptr;
};

class Event {
 public:
  static Result<Event> create(std::shared_ptr<const cuda::Context> context);
  Event(Event&& other) noexcept { *this = std::move(other); }
  Event& operator=(Event&& other) noexcept;
  ~Event();
  Status record(cuda::StreamHandle stream);
  Status synchronize() const;
  // Milliseconds from `start` to this event on the device; both are recorded and done.
  Result<float> millisecondsSince(const Event& start) const;

 private:
  Event() = default;
  std::shared_ptr<const cuda::Context> context_;
  cuda::EventHandle handle_ = nullptr;
};

// What `enqueue` puts on a stream, captured once and replayed as one piece of work.
class Graph {
 public:
  // Nothing runs at capture. If `enqueue` fails, the capture is ended, and its error is returned.
  static Result<Graph> capture(const Stream& stream, const std::function<Status()>& enqueue);
  Graph(Graph&& other) noexcept { *this = std::move(other); }
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();
  Status replay(cuda::StreamHandle stream) const;

 private:
  Graph() = default;
  std::shared_ptr<const cuda::Context> context_;
  cuda::GraphExecHandle handle_ = nullptr;
};

}  // namespace nereid
