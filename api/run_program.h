// A program of the DSL on a device: recorded by the caller, compiled for the device, run on the caller's arrays.
//
//   std::vector<float> x = …, y(n);
//   auto program = dsl::record("scale", {{"x", ArgType::kPointer, 16}, {"y", ArgType::kPointer, 16}, {"n", ArgType::kI64}}, …);
//   auto device = api::findDevice("auto");
//   auto report = api::runProgram(std::move(*program), {}, blocks, {{"x", api::input(x)}, {"y", api::output(y)}, {"n", n}},
//                                 {.device = *device});
#pragma once
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/run_launches.h"
#include "compiler/pipeline/compile.h"

namespace nereid::api {

// What a kernel gets for one argument: memory of the caller, an integer or a float. Memory stays the caller's until the run ends.
class Argument {
 public:
  Argument(HostBuffer buffer) : value_(buffer) {}
  template <std::integral T>
  Argument(T x) : value_(static_cast<int64_t>(x)) {}
  template <std::floating_point T>
  Argument(T x) : value_(static_cast<double>(x)) {}
  const std::variant<HostBuffer, int64_t, double>& value() const { return value_; }

 private:
  std::variant<HostBuffer, int64_t, double> value_;
};
using Arguments = std::map<std::string, Argument>;  // by argument name

template <typename T>
Argument input(const std::vector<T>& v) {  // not written
  return HostBuffer{const_cast<T*>(v.data()), v.size() * sizeof(T), false};
}
template <typename T>
Argument output(std::vector<T>& v) {  // read and written
  return HostBuffer{v.data(), v.size() * sizeof(T), true};
}

// The artifact of a program for a target; needs no GPU.
Result<Artifact> compileProgram(dsl::Program program, const Schedule& schedule, const Target& target,
                                const compiler::CompileOptions& options = {});

// Runs `grid` blocks and returns when they are done; on a GPU with options.repeat, the median device time in microseconds.
// Errors: arguments that are not the program's, or do not have the alignment that it declares (kUsage); runLaunches'.
Result<std::optional<double>> runProgram(dsl::Program program, const Schedule& schedule, int64_t grid, const Arguments& arguments,
                                         const RunOptions& options);

}  // namespace nereid::api
