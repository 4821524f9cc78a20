// How a row's sums become out and lse; shared by sparse_decode and combine, so that both mean the same.
#pragma once
#include "kernels_dsl/spec/problems/conventions.h"

namespace nereid::kernels {

// exp(score − max) summed is `sum`; no tokens if `empty`.
struct SoftmaxSums {
  double max = 0, sum = 0;
  bool empty = true;
};

// The factor that turns Σ exp(score − max)·v into out. The sink joins the denominator; an infinite one makes the output 0.
double outputFactor(const SoftmaxSums& s, const float* sink);
// The log-sum-exp in the convention asked for. An empty row has the convention's value whatever the sink is.
double lseValue(const SoftmaxSums& s, const float* sink, const LseConvention& convention);

}  // namespace nereid::kernels
