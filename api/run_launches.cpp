// Launches on the CPU and on a GPU; the emulator's: run_on_emulator.cpp.
#include "api/run_launches.h"

#include <algorithm>
#include <cstring>

#include "api/guarded_buffers.h"
#include "api/run_on_emulator.h"
#include "compiler/pipeline/compile.h"
#include "kernels_dsl/spec/launch/plan_call.h"
#include "kernels_dsl/spec/tensor.h"
#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/device_buffer.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/residency.h"
#include "runtime/launch/stream.h"
#include "runtime/module/code_object.h"

namespace nereid::api {
namespace {

using kernels::Tensor;

Status runOnCpu(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers) {
  std::map<std::string, void*> pointers;
  std::map<std::string, Tensor> guarded;
  for (const auto& [name, buffer] : buffers) {
    pointers[name] = buffer.data;
    if (!buffer.writable) continue;
    NEREID_TRY(Tensor image, Tensor::allocate(kernels::DType::kU8, {static_cast<int64_t>(buffer.bytes + 2 * kGuardBytes)}));
    std::memset(image.data(), kGuardValue, static_cast<size_t>(image.bytes()));
    if (buffer.data) std::memcpy(image.data() + kGuardBytes, buffer.data, buffer.bytes);
    pointers[name] = image.data() + kGuardBytes;
    guarded.emplace(name, std::move(image));
  }
  for (KernelLaunch& l : launches) {
    NEREID_TRY(const Artifact artifact, compiler::compile(std::move(l.program), l.spec));
    NEREID_TRY(const auto slots, kernels::bindArguments(artifact.args, l.spec.kernel, l.numbers, pointers));
    NEREID_CHECK_OK(launchOnCpu(artifact, slots, l.grid));
  }
  for (const auto& [name, image] : guarded) {
    const HostBuffer& buffer = buffers.at(name);
    NEREID_CHECK_OK(checkGuards(name, image.as<uint8_t>(), buffer.bytes));
    if (buffer.data) std::memcpy(buffer.data, image.data() + kGuardBytes, buffer.bytes);
  }
  return {};
}

class GpuRun {
 public:
  GpuRun(std::shared_ptr<const cuda::Context> context, Stream stream, const RunOptions& options)
      : context_(std::move(context)), stream_(std::move(stream)), options_(options) {}

  Result<std::optional<double>> run(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers) {
    for (const auto& [name, buffer] : buffers) NEREID_CHECK_OK(upload(name, buffer));
    for (KernelLaunch& l : launches) NEREID_CHECK_OK(load(std::move(l)));
    NEREID_CHECK_OK(enqueue());
    NEREID_CHECK_OK(stream_.synchronize());
    for (const auto& [name, buffer] : buffers)
      if (buffer.writable) NEREID_CHECK_OK(download(name, buffer));
    std::optional<double> time_us;
    if (options_.repeat > 0 && !ready_.empty()) {
      NEREID_TRY(time_us, measure());
    }
    return time_us;
  }

 private:
  struct Ready {
    CodeObject object;
    std::vector<ArgSlot> slots;
    LaunchOptions launch;
  };

  Status upload(const std::string& name, const HostBuffer& host) {
    const size_t guard = host.writable ? kGuardBytes : 0;
    NEREID_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(context_, host.bytes + 2 * guard));
    if (guard) NEREID_CHECK_OK(buffer.fill(kGuardValue, stream_.handle()));
    if (host.data) NEREID_CHECK_OK(buffer.write({static_cast<const uint8_t*>(host.data), host.bytes}, stream_.handle(), guard));
    pointers_[name] = static_cast<uint8_t*>(buffer.pointer()) + guard;
    buffers_.emplace(name, std::move(buffer));
    return {};
  }

  Status download(const std::string& name, const HostBuffer& host) {
    std::vector<uint8_t> image(host.bytes + 2 * kGuardBytes);
    NEREID_CHECK_OK(buffers_.at(name).read(image, stream_.handle()));
    NEREID_CHECK_OK(stream_.synchronize());
    NEREID_CHECK_OK(checkGuards(name, image.data(), host.bytes));
    if (host.data) std::memcpy(host.data, image.data() + kGuardBytes, host.bytes);
    return {};
  }

  Status load(KernelLaunch l) {
    NEREID_TRY(const Artifact artifact, compiler::compile(std::move(l.program), l.spec));
    NEREID_TRY(CodeObject object, CodeObject::load(context_, artifact));
    NEREID_TRY(auto slots, kernels::bindArguments(artifact.args, l.spec.kernel, l.numbers, pointers_));
    LaunchOptions launch{.grid = l.grid};
    if (options_.limits == Limits::kSm120) {
      const BlockNeeds needs{object.staticSharedBytes(), object.dynamicSharedBytes(), object.threads() / 32};
      NEREID_TRY(launch.dynamic_shared, dynamicSharedForResidency(needs, l.spec.target, context_->device()));
    }
    ready_.push_back({std::move(object), std::move(slots), launch});
    return {};
  }

  Status enqueue() const {
    for (const Ready& r : ready_) NEREID_CHECK_OK(launch(r.object, r.slots, r.launch, stream_.handle()));
    return {};
  }

  Result<double> measure() const {
    std::vector<double> times;
    NEREID_TRY(Event begin, Event::create(context_));
    NEREID_TRY(Event end, Event::create(context_));
    for (int i = 0; i < options_.repeat; i++) {
      NEREID_CHECK_OK(begin.record(stream_.handle()));
      NEREID_CHECK_OK(enqueue());
      NEREID_CHECK_OK(end.record(stream_.handle()));
      NEREID_CHECK_OK(end.synchronize());
      NEREID_TRY(const float ms, end.millisecondsSince(begin));
      times.push_back(ms * 1000.0);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  std::shared_ptr<const cuda::Context> context_;
  Stream stream_;
  const RunOptions& options_;
  std::map<std::string, DeviceBuffer> buffers_;
  std::map<std::string, void*> pointers_;
  std::vector<Ready> ready_;
};

Result<std::optional<double>> runOnGpu(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers,
                                       const RunOptions& options) {
  NEREID_TRY(auto driver, cuda::Driver::open());
  NEREID_TRY(auto context, cuda::Context::primary(driver, options.device.ordinal));
  NEREID_TRY(Stream stream, Stream::create(context));
  return GpuRun(context, std::move(stream), options).run(std::move(launches), buffers);
}

}  // namespace

Result<std::optional<double>> runLaunches(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers,
                                          const RunOptions& options) {
  switch (options.device.kind) {
    case DeviceKind::kCpu: NEREID_CHECK_OK(runOnCpu(std::move(launches), buffers)); break;
    case DeviceKind::kEmulator: NEREID_CHECK_OK(runOnEmulator(std::move(launches), buffers, options.seed)); break;
    case DeviceKind::kCuda: return runOnGpu(std::move(launches), buffers, options);
  }
  return std::optional<double>();
}

}  // namespace nereid::api
