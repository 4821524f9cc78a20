// Looks kernels up by walking the alternatives of Problem.
#include "kernels_dsl/spec/problems/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::kernels {
namespace {

template <size_t I = 0>
void collectNames(std::vector<std::string>& names) {
  if constexpr (I < std::variant_size_v<Problem>) {
    names.push_back(std::variant_alternative_t<I, Problem>::kKernel);
    collectNames<I + 1>(names);
  }
}

template <size_t I = 0>
Result<Problem> parseNamed(std::string_view kernel, const ProblemFields& fields) {
  if constexpr (I < std::variant_size_v<Problem>) {
    using P = std::variant_alternative_t<I, Problem>;
    if (kernel != P::kKernel) return parseNamed<I + 1>(kernel, fields);
    NEREID_TRY(P problem, P::parse(fields));
    return Problem(std::move(problem));
  } else {
    return Diag{Code::kUsage, fmt::format("unknown kernel '{}'", kernel), "kernel",
                fmt::format("kernels are {}", fmt::join(kernelNames(), ", "))};
  }
}

}  // namespace

const std::vector<std::string>& kernelNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> n;
    collectNames(n);
    return n;
  }();
  return names;
}

Result<Problem> parseProblem(std::string_view kernel, const ProblemFields& fields) { return parseNamed(kernel, fields); }

const char* kernelOf(const Problem& problem) {
  return std::visit([](const auto& p) { return std::decay_t<decltype(p)>::kKernel; }, problem);
}

ProblemFields fieldsOf(const Problem& problem) {
  return std::visit([](const auto& p) { return p.fields(); }, problem);
}

}  // namespace nereid::kernels
