// A case on a device: compile what it needs, run it, bring back its outputs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/compile_kernel.h"
#include "kernels_dsl/spec/case.h"

namespace nereid::api {

// Where a case runs. `emu` is the GPU's code for `target` on the CPU, with every check of the emulator.
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

struct RunOptions {
  Device device;
  Limits limits = Limits::kChip;
  std::string target = "sm_120a";  // of the emulator
  std::string schedule;            // changes to the schedule of the case's first kernel, key=value,…
  int repeat = 0;                  // GPU: launches that are timed
  uint64_t seed = 0;               // emulator: order of warps and of copies
};

struct RunResult {
  kernels::TensorMap outputs;
  std::string schedule;           // of the first kernel
  std::optional<double> time_us;  // median device time of the whole case
  std::vector<std::string> kernels;
};

// Every buffer that kernels write has guard bytes on both sides, and one that changed is an error that names the buffer.
// Errors also: what the emulator found (kCheckFailed).
Result<RunResult> runCase(const kernels::Case& c, const RunOptions& options);

}  // namespace nereid::api
