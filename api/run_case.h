// A case on a device: compile what it needs, run it, bring back its outputs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/run_launches.h"
#include "kernels_dsl/spec/case.h"

namespace nereid::api {

struct RunResult {
  kernels::TensorMap outputs;
  std::string schedule;           // of the first kernel
  std::optional<double> time_us;  // median device time of the whole case
  std::vector<std::string> kernels;
};

// Errors: runLaunches'.
Result<RunResult> runCase(const kernels::Case& c, const RunOptions& options);

}  // namespace nereid::api
