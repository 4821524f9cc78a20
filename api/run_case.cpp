// The plan of a case, launch by launch, on each kind of device.
#include "api/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "api/guarded_buffers.h"
#include "api/run_on_emulator.h"
#include "kernels_dsl/spec/heuristic.h"
#include "kernels_dsl/spec/launch/arguments.h"
#include "kernels_dsl/spec/launch/grid.h"
#include "kernels_dsl/spec/launch/plan_call.h"
#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/device_buffer.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/residency.h"
#include "runtime/launch/stream.h"
#include "runtime/module/code_object.h"

namespace nereid::api {
namespace {

using kernels::CallPlan;
using kernels::KernelCall;
using kernels::Tensor;

struct Launch {
  Artifact artifact;
  int64_t grid = 0;
};

KernelSpec specOf(const KernelCall& call, const Target& target) {
  return {kernels::kernelOf(call.problem), kernels::fieldsOf(call.problem), call.schedule, target, "nvptx"};
}

Result<std::vector<Launch>> compileCalls(const CallPlan& plan, const Target& target) {
  std::vector<Launch> launches;
  for (const KernelCall& call : plan.calls) {
    NEREID_TRY(Artifact artifact, compileKernel(specOf(call, target)));
    NEREID_TRY(const int64_t grid, kernels::gridSize(call.problem, call.schedule, call.size));
    launches.push_back({std::move(artifact), grid});
  }
  return launches;
}

// Writable tensors of a plan: its outputs, then its scratch.
std::map<std::string, size_t> writable(const CallPlan& plan) {
  std::map<std::string, size_t> bytes;
  for (const auto& [name, t] : plan.outputs) bytes[name] = static_cast<size_t>(t.bytes());
  for (const auto& [name, t] : plan.scratch) {
    size_t n = static_cast<size_t>(kernels::dtypeBytes(t.dtype));
    for (int64_t d : t.shape) n *= static_cast<size_t>(d);
    bytes[name] = n;
  }
  return bytes;
}

Status runOnCpu(CallPlan& plan, const Target& target) {
  NEREID_TRY(auto launches, compileCalls(plan, target));
  std::map<std::string, void*> pointers;
  for (auto& [name, t] : plan.inputs) pointers[name] = t.data();
  std::map<std::string, Tensor> guarded;
  for (const auto& [name, bytes] : writable(plan)) {
    NEREID_TRY(Tensor image, Tensor::allocate(kernels::DType::kU8, {static_cast<int64_t>(bytes + 2 * kGuardBytes)}));
    std::memset(image.data(), kGuardValue, static_cast<size_t>(image.bytes()));
    if (auto it = plan.outputs.find(name); it != plan.outputs.end())
      std::memcpy(image.data() + kGuardBytes, it->second.data(), bytes);
    pointers[name] = image.data() + kGuardBytes;
    guarded.emplace(name, std::move(image));
  }
  for (size_t i = 0; i < launches.size(); i++) {
    NEREID_TRY(const auto slots, kernels::bindArguments(launches[i].artifact.args, plan.calls[i], pointers));
    NEREID_CHECK_OK(launchOnCpu(launches[i].artifact, slots, launches[i].grid));
  }
  for (const auto& [name, bytes] : writable(plan)) {
    const Tensor& image = guarded.at(name);
    NEREID_CHECK_OK(checkGuards(name, image.as<uint8_t>(), bytes));
    if (auto it = plan.outputs.find(name); it != plan.outputs.end())
      std::memcpy(it->second.data(), image.data() + kGuardBytes, bytes);
  }
  return {};
}

Status runOnGpu(CallPlan& plan, const RunOptions& options, std::optional<double>& time_us) {
  NEREID_TRY(auto driver, cuda::Driver::open());
  NEREID_TRY(auto context, cuda::Context::primary(driver, options.device.ordinal));
  NEREID_TRY(const Target chip, findTarget(context->device().target));
  const Target target = limitTarget(chip, options.limits);
  NEREID_TRY(auto launches, compileCalls(plan, target));
  NEREID_TRY(Stream stream, Stream::create(context));

  std::map<std::string, DeviceBuffer> buffers;
  std::map<std::string, void*> pointers;
  for (auto& [name, t] : plan.inputs) {
    NEREID_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(context, static_cast<size_t>(t.bytes())));
    NEREID_CHECK_OK(buffer.write({t.as<uint8_t>(), static_cast<size_t>(t.bytes())}, stream.handle()));
    pointers[name] = buffer.pointer();
    buffers.emplace(name, std::move(buffer));
  }
  for (const auto& [name, bytes] : writable(plan)) {
    NEREID_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(context, bytes + 2 * kGuardBytes));
    NEREID_CHECK_OK(buffer.fill(kGuardValue, stream.handle()));
    if (auto it = plan.outputs.find(name); it != plan.outputs.end())
      NEREID_CHECK_OK(buffer.write({it->second.as<uint8_t>(), bytes}, stream.handle(), kGuardBytes));
    pointers[name] = static_cast<uint8_t*>(buffer.pointer()) + kGuardBytes;
    buffers.emplace(name, std::move(buffer));
  }

  struct Ready {
    CodeObject object;
    std::vector<ArgSlot> slots;
    LaunchOptions options;
  };
  std::vector<Ready> ready;
  for (size_t i = 0; i < launches.size(); i++) {
    NEREID_TRY(CodeObject object, CodeObject::load(context, launches[i].artifact));
    NEREID_TRY(auto slots, kernels::bindArguments(launches[i].artifact.args, plan.calls[i], pointers));
    LaunchOptions launch_options{.grid = launches[i].grid};
    if (options.limits == Limits::kSm120) {
      const BlockNeeds needs{object.staticSharedBytes(), object.dynamicSharedBytes(), object.threads() / 32};
      NEREID_TRY(launch_options.dynamic_shared, dynamicSharedForResidency(needs, target, context->device()));
    }
    ready.push_back({std::move(object), std::move(slots), launch_options});
  }
  auto enqueue = [&]() -> Status {
    for (const Ready& r : ready) NEREID_CHECK_OK(launch(r.object, r.slots, r.options, stream.handle()));
    return {};
  };
  NEREID_CHECK_OK(enqueue());
  NEREID_CHECK_OK(stream.synchronize());

  for (const auto& [name, bytes] : writable(plan)) {
    std::vector<uint8_t> image(bytes + 2 * kGuardBytes);
    NEREID_CHECK_OK(buffers.at(name).read(image, stream.handle()));
    NEREID_CHECK_OK(stream.synchronize());
    NEREID_CHECK_OK(checkGuards(name, image.data(), bytes));
    if (auto it = plan.outputs.find(name); it != plan.outputs.end())
      std::memcpy(it->second.data(), image.data() + kGuardBytes, bytes);
  }
  if (options.repeat > 0 && !ready.empty()) {
    std::vector<double> times;
    NEREID_TRY(Event begin, Event::create(context));
    NEREID_TRY(Event end, Event::create(context));
    for (int i = 0; i < options.repeat; i++) {
      NEREID_CHECK_OK(begin.record(stream.handle()));
      NEREID_CHECK_OK(enqueue());
      NEREID_CHECK_OK(end.record(stream.handle()));
      NEREID_CHECK_OK(end.synchronize());
      NEREID_TRY(const float ms, end.millisecondsSince(begin));
      times.push_back(ms * 1000.0);
    }
    std::sort(times.begin(), times.end());
    time_us = times[times.size() / 2];
  }
  return {};
}

}  // namespace

Result<Device> findDevice(std::string_view text) {
  if (text == "cpu") return Device{.kind = DeviceKind::kCpu, .text = "cpu"};
  if (text == "emu") return Device{.kind = DeviceKind::kEmulator, .text = "emu"};
  const bool any = text == "auto";
  int ordinal = 0;
  if (!any && text != "cuda") {
    const std::string_view number = text.starts_with("cuda:") ? text.substr(5) : std::string_view();
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (number.empty() || error != std::errc() || end != number.data() + number.size() || ordinal < 0)
      return Diag{Code::kUsage, fmt::format("unknown device '{}'", text), "--device", "accepted: auto, cpu, emu, cuda, cuda:N"};
  }
  auto gpu = [&]() -> Result<Device> {
    NEREID_TRY(auto driver, cuda::Driver::open());
    NEREID_TRY(const cuda::DeviceInfo info, driver->device(ordinal));
    if (info.target.empty())
      return Diag{Code::kUnsupported, fmt::format("{} has compute capability {}", info.name, info.capability),
                  fmt::format("cuda:{}", ordinal), "kernels run on capability 8.0, 8.9, 9.0, 12.0 and 12.1; use --device cpu"};
    return Device{.kind = DeviceKind::kCuda, .ordinal = ordinal, .text = fmt::format("cuda:{}", ordinal)};
  }();
  if (gpu || !any) return gpu;
  return Device{.kind = DeviceKind::kCpu, .text = "cpu", .notice = "no usable GPU, so the CPU is used: " + gpu.diag().what};
}

Result<RunResult> runCase(const kernels::Case& c, const RunOptions& options) {
  std::string target_name = options.device.kind == DeviceKind::kCpu ? "cpu" : options.target;
  if (options.device.kind == DeviceKind::kCuda) {
    NEREID_TRY(auto driver, cuda::Driver::open());
    NEREID_TRY(const cuda::DeviceInfo info, driver->device(options.device.ordinal));
    target_name = info.target;
  }
  NEREID_TRY(const Target unlimited, findTarget(target_name));
  const Target target = limitTarget(unlimited, options.limits);
  const std::string kernel = kernels::kernelOf(kernels::problemOf(c.call));
  RunResult result;
  NEREID_TRY(const Schedule schedule, parseSchedule(options.schedule, kernels::chooseSchedule(c.call, target)));
  result.schedule = schedule.text();
  NEREID_TRY(CallPlan plan, kernels::planCall(c.call, {{kernel, schedule}}));
  for (const KernelCall& call : plan.calls) result.kernels.push_back(kernels::kernelOf(call.problem));

  switch (options.device.kind) {
    case DeviceKind::kCpu: NEREID_CHECK_OK(runOnCpu(plan, target)); break;
    case DeviceKind::kEmulator: NEREID_CHECK_OK(runOnEmulator(plan, target, options.seed)); break;
    case DeviceKind::kCuda: NEREID_CHECK_OK(runOnGpu(plan, options, result.time_us)); break;
  }
  result.outputs = std::move(plan.outputs);
  return result;
}

}  // namespace nereid::api
