// What the examples share beside their kernels: flags, inputs, the comparison with a reference, a line of result.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/run_program.h"
#include "compiler/dsl/dsl.h"

namespace example {

// The flags of one run (--help prints them) and what follows from them.
class Example {
 public:
  // A size of the problem: NAME=VALUE of the command line, else `value`.
  int64_t size(const std::string& name, int64_t value);
  // The schedule `text` (key=value,…) with the changes of --schedule.
  nereid::Result<nereid::Schedule> schedule(const std::string& text) const;

  // Runs the program and prints the error that `error` computes from the outputs; larger than `limit` (or --limit), it is
  // kCheckFailed.
  // With --compile or --emit: compiles for --target only.
  nereid::Status run(nereid::dsl::Program program, const nereid::Schedule& schedule, int64_t grid,
                     const nereid::api::Arguments& arguments, double limit, const std::function<double()>& error) const;

 private:
  friend int start(int argc, char** argv, const char* purpose, nereid::Status (*body)(Example&));
  nereid::Status compile(nereid::dsl::Program program, const nereid::Schedule& schedule) const;

  std::string name_, device_ = "auto", target_ = "sm_120a", limits_ = "chip", schedule_, emit_;
  std::map<std::string, int64_t> sizes_;
  std::set<std::string> known_;
  bool compile_only_ = false;
  std::optional<double> limit_;
  int repeat_ = 0;
  uint64_t seed_ = 0;
};

// What an example's main does: flags, then `body`. Exit codes as everywhere: 0 fine, 1 wrong result, 2 usage, 3 environment.
int start(int argc, char** argv, const char* purpose, nereid::Status (*body)(Example&));

// Numbers in [-1, 1), the same for the same seed.
std::vector<float> uniform(int64_t count, uint64_t seed);

// The largest |got − expected| / (|expected| + rms of expected); infinite for a NaN in one of them and for another count.
double worstError(const std::vector<double>& got, const std::vector<double>& expected);

// Rows that a costly reference is computed for, of `products` multiplications each: all of them where that takes a second, else
// at least 16 that include first and last.
std::vector<int64_t> checkedRows(int64_t rows, int64_t products);

}  // namespace example
