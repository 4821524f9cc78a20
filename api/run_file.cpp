// Reading, running, comparing, writing.
#include "api/run_file.h"

#include "kernels_dsl/spec/case_file.h"
#include "kernels_dsl/spec/tensor_file.h"

namespace nereid::api {

Result<FileReport> runFile(const std::string& path, const RunFileOptions& options) {
  NEREID_TRY(const kernels::Case c, kernels::readCase(path));
  if (options.check && c.expected.empty())
    return Diag{Code::kUsage, "--check needs expected tensors and the file has none", path,
                "add out and lse (or kv, dst, mask, cache) to the file, or use --out"};
  NEREID_TRY(RunResult result, runCase(c, options.run));
  FileReport report{.schedule = result.schedule, .time_us = result.time_us, .kernels = result.kernels};
  if (!options.out.empty()) NEREID_CHECK_OK(kernels::writeTensorFile(options.out, result.outputs, c.metadata));
  if (!options.check) return report;
  NEREID_TRY(report.outputs, kernels::compareOutputs(c.expected, result.outputs, kernels::limitsFor(c.call)));
  for (const auto& o : report.outputs) report.ok &= o.ok;
  return report;
}

}  // namespace nereid::api
