// Kernels one after another over host memory, on each kind of device: how cases and programs of the DSL run.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/device.h"
#include "compiler/dsl/dsl.h"
#include "runtime/spec/abi.h"
#include "runtime/spec/spec.h"

namespace nereid::api {

struct RunOptions {
  Device device;
  Limits limits = Limits::kChip;
  std::string target = "sm_120a";  // of the emulator
  std::string schedule;            // changes to the schedule of the first kernel, key=value,…
  int repeat = 0;                  // GPU: runs of all launches that are timed
  uint64_t seed = 0;               // emulator: order of warps and of copies
};

// The caller's memory behind a pointer argument. What kernels write is brought back to it. Without `data` it is scratch: written
// by one kernel and read by a later one.
struct HostBuffer {
  void* data = nullptr;
  size_t bytes = 0;
  bool writable = false;
};

struct KernelLaunch {
  KernelSpec spec;
  dsl::Program program;
  int64_t grid = 0;                        // blocks; 0: nothing runs
  std::map<std::string, ArgSlot> numbers;  // by argument name; pointers are the buffers of the same name
};

// Compiles each kernel for its spec's target and runs them in order. On a GPU the median device time of all launches, if
// options.repeat asks for it. Every buffer that kernels write has guard bytes on both sides, and one that changed is an error
// that names the buffer. Errors also: what the emulator found (kCheckFailed).
Result<std::optional<double>> runLaunches(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers,
                                          const RunOptions& options);

}  // namespace nereid::api
