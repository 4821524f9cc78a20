// The log-sum-exp of a row and the sink, in the conventions of a call; shared by sparse_decode and combine.
#pragma once
#include <cmath>

#include "compiler/dsl/dsl.h"
#include "kernels_dsl/spec/problems/conventions.h"

namespace nereid::kernels {

inline constexpr double kLog2e = 1.4426950408889634, kLn2 = 0.6931471805599453;

// A softmax in base 2, by scalars or vectors of one shape: sum = Σ 2^(x − reference) over a row's tokens, 0 for a row without
// any.
struct RowSoftmax {
  dsl::Value reference, sum;
  dsl::Value empty() const { return sum == 0.f; }  // false for NaN
};

// sum with the sink (times log2 e; −inf adds nothing, absent: no sink), the denominator of the row's weights.
inline dsl::Value denominator(const RowSoftmax& s, const dsl::Value& sink) {
  return sink.present() ? s.sum + exp2(sink - s.reference) : s.sum;
}

// The value to store. `sink` as above; it counts only where the convention takes it in.
inline dsl::Value lseValue(const RowSoftmax& s, const dsl::Value& sink, const LseConvention& convention) {
  dsl::Value lse = s.reference + log2(s.sum);
  if (convention.sink) {
    // Past 2^64 the tokens do not change the sum any more, and beyond 2^128 it would overflow.
    constexpr float kDominates = 64;
    lse = select(sink - s.reference > kDominates, sink, s.reference + log2(denominator(s, sink)));
  }
  if (convention.base == LseBase::kE) lse = lse * kLn2;
  return select(s.empty(), convention.empty == LseEmpty::kPlusInf ? INFINITY : -INFINITY, lse);
}

}  // namespace nereid::kernels
