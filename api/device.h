// Where kernels run, and whose limits they keep, by name.
#pragma once
#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::api {

// Limits of schedules: the chip's own, or SM120's on any chip.
enum class Limits { kChip, kSm120 };
Result<Limits> parseLimits(std::string_view text);  // "chip", "sm_120"
Target limitTarget(const Target& target, Limits limits);

// `emu` is the GPU's code for a target on the CPU, with every check of the emulator.
enum class DeviceKind { kCpu, kEmulator, kCuda };
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int ordinal = 0;     // of a GPU
  std::string text;    // "cpu", "emu", "cuda:0"
  std::string notice;  // why `auto` chose the CPU
};
// "auto", "cpu", "emu", "cuda", "cuda:N". `auto` is a supported GPU, else the CPU with a notice. Errors: unknown words (kUsage),
// no driver or GPU where one was asked for (kEnvironment).
Result<Device> findDevice(std::string_view text);

// What kernels are compiled for on a device; `emulated` is the target of `emu`.
Result<Target> targetOf(const Device& device, std::string_view emulated, Limits limits);

}  // namespace nereid::api
