// Devices by name, and their targets.
#include "api/device.h"

#include <fmt/format.h>

#include <charconv>

#include "runtime/driver/driver.h"

namespace nereid::api {

Result<Limits> parseLimits(std::string_view text) {
  if (text == "chip") return Limits::kChip;
  if (text == "sm_120") return Limits::kSm120;
  return Diag{Code::kUsage, fmt::format("unknown limits '{}'", text), "--limits", "accepted: sm_120, chip"};
}

Target limitTarget(const Target& target, Limits limits) { return limits == Limits::kSm120 ? withSm120Limits(target) : target; }

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

Result<Target> targetOf(const Device& device, std::string_view emulated, Limits limits) {
  std::string name(device.kind == DeviceKind::kCpu ? "cpu" : emulated);
  if (device.kind == DeviceKind::kCuda) {
    NEREID_TRY(auto driver, cuda::Driver::open());
    NEREID_TRY(const cuda::DeviceInfo info, driver->device(device.ordinal));
    name = info.target;
  }
  NEREID_TRY(const Target target, findTarget(name));
  if (device.kind == DeviceKind::kEmulator && !target.isGpu())
    return Diag{Code::kUsage, fmt::format("the emulator runs GPU code and the target is {}", name), "--target",
                "use --device cpu, or a target that is a GPU"};
  return limitTarget(target, limits);
}

}  // namespace nereid::api
