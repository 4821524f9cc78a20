// Sink, base and empty rows.
#include "kernels_dsl/spec/references/softmax_outputs.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace nereid::kernels {

double outputFactor(const SoftmaxSums& s, const float* sink) {
  if (s.empty) return 0;
  const double denominator = s.sum + (sink ? std::exp(double{*sink} - s.max) : 0);
  return std::isinf(denominator) ? 0 : 1 / denominator;
}

double lseValue(const SoftmaxSums& s, const float* sink, const LseConvention& convention) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (s.empty) return convention.empty == LseEmpty::kPlusInf ? kInf : -kInf;
  double lse = s.max + std::log(s.sum);
  if (sink && convention.sink) {
    const double other = *sink, high = std::fmax(lse, other), low = std::fmin(lse, other);
    if (!std::isnan(lse)) lse = std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  }
  return convention.base == LseBase::k2 ? lse / std::numbers::ln2 : lse;
}

}  // namespace nereid::kernels
