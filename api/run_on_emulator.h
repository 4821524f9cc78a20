// Launches on the emulator: the GPU module of each kernel, executed on the CPU with every check.
#pragma once
#include "api/run_launches.h"

namespace nereid::api {
// Findings are a kCheckFailed error with the emulator's report.
Status runOnEmulator(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers, uint64_t seed);
}  // namespace nereid::api
