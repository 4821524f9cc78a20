// A plan on the emulator: the GPU module of each kernel, executed on the CPU with every check.
#pragma once
#include "kernels_dsl/spec/launch/plan_call.h"
#include "runtime/spec/target.h"

namespace nereid::api {
// Findings are a kCheckFailed error with the emulator's report.
Status runOnEmulator(kernels::CallPlan& plan, const Target& target, uint64_t seed);
}  // namespace nereid::api
