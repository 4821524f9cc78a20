// Arguments by name and type to slots and buffers.
#include "api/run_program.h"

#include <fmt/format.h>

#include <limits>

#include "compiler/dsl/dsl_impl.h"

namespace nereid::api {
namespace {

const char* typeName(ArgType type) {
  switch (type) {
    case ArgType::kPointer: return "a pointer";
    case ArgType::kI32: return "i32";
    case ArgType::kI64: return "i64";
    case ArgType::kF32: return "f32";
  }
  return "";
}

Diag misfit(const Arg& a, const std::string& kernel, const char* given, const char* fix) {
  return Diag{Code::kUsage, fmt::format("argument {} is {} and was given {}", a.name, typeName(a.type), given), kernel, fix};
}

// A number of the caller as the argument's type.
Result<ArgSlot> slotOf(const Arg& a, const std::string& kernel, const std::variant<HostBuffer, int64_t, double>& value) {
  ArgSlot slot{.bits = 0};
  if (std::holds_alternative<HostBuffer>(value)) return misfit(a, kernel, "memory", "pass a number");
  if (a.type == ArgType::kF32) {
    const auto* integer = std::get_if<int64_t>(&value);
    slot.f32 = static_cast<float>(integer ? static_cast<double>(*integer) : std::get<double>(value));
    return slot;
  }
  const auto* integer = std::get_if<int64_t>(&value);
  if (!integer) return misfit(a, kernel, "a float", "pass an integer");
  if (a.type == ArgType::kI64) return slot.i64 = *integer, slot;
  if (*integer < std::numeric_limits<int32_t>::min() || *integer > std::numeric_limits<int32_t>::max())
    return misfit(a, kernel, "a wider integer", "declare it kI64");
  return slot.i32 = static_cast<int32_t>(*integer), slot;
}

KernelSpec specOf(const dsl::Program& program, const Schedule& schedule, const Target& target) {
  return {program.impl().kernel, {}, schedule, target, "nvptx"};
}

}  // namespace

Result<Artifact> compileProgram(dsl::Program program, const Schedule& schedule, const Target& target,
                                const compiler::CompileOptions& options) {
  const KernelSpec spec = specOf(program, schedule, target);
  return compiler::compile(std::move(program), spec, options);
}

Result<std::optional<double>> runProgram(dsl::Program program, const Schedule& schedule, int64_t grid, const Arguments& arguments,
                                         const RunOptions& options) {
  NEREID_TRY(const Target target, targetOf(options.device, options.target, options.limits));
  NEREID_TRY(const Schedule changed, parseSchedule(options.schedule, schedule));
  const std::string kernel = program.impl().kernel;
  std::map<std::string, HostBuffer> buffers;
  std::map<std::string, ArgSlot> numbers;
  std::string names;
  for (const Arg& a : program.impl().args) {
    names += (names.empty() ? "" : ", ") + a.name;
    const auto given = arguments.find(a.name);
    if (given == arguments.end())
      return Diag{Code::kUsage, fmt::format("argument {} was not given", a.name), kernel, "pass every argument of the program"};
    const auto& value = given->second.value();
    if (a.type != ArgType::kPointer) {
      NEREID_TRY(numbers[a.name], slotOf(a, kernel, value));
    } else if (const auto* buffer = std::get_if<HostBuffer>(&value)) {
      buffers[a.name] = *buffer;
    } else {
      return misfit(a, kernel, "a number", "pass input(v) or output(v)");
    }
  }
  for (const auto& [name, value] : arguments)
    if (!buffers.contains(name) && !numbers.contains(name))
      return Diag{Code::kUsage, fmt::format("the program has no argument {}", name), kernel, "its arguments are " + names};
  std::vector<KernelLaunch> launches;
  KernelSpec spec = specOf(program, changed, target);
  launches.push_back({std::move(spec), std::move(program), grid, std::move(numbers)});
  return runLaunches(std::move(launches), buffers, options);
}

}  // namespace nereid::api
