// `nereid run`: a case file on a device, compared with the tensors it expects, its outputs written to another file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "api/run_case.h"
#include "kernels_dsl/spec/compare.h"

namespace nereid::api {

struct RunFileOptions {
  RunOptions run;
  bool check = false;  // compare with the file's expected tensors; a file without them is a usage error
  std::string out;     // file for the computed tensors under the expected names; empty: none
};

struct FileReport {
  bool ok = true;
  std::string schedule;
  std::optional<double> time_us;
  std::vector<std::string> kernels;
  std::vector<kernels::OutputComparison> outputs;  // with check
};

// Errors of the file, the device or the compiler. A result outside its limit is no error: the report says it.
Result<FileReport> runFile(const std::string& path, const RunFileOptions& options);

}  // namespace nereid::api
