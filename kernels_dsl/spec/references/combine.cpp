// combine: parts weighted by exp(lse − max). A part with lse −inf is empty, and its values have no influence, not even as NaN.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels_dsl/spec/formats.h"
#include "kernels_dsl/spec/references/reference.h"
#include "kernels_dsl/spec/references/softmax_outputs.h"
#include "runtime/base/thread_pool.h"

namespace nereid::kernels {

Result<TensorMap> referenceCombine(const CombineCase& c) {
  NEREID_TRY(TensorMap out, initialOutputs(c));
  const CombineProblem& p = c.problem;
  const int64_t s_q = p.s_q, heads = p.heads, splits = p.splits, dv = p.head_dim_v;
  auto* const out_bits = out["out"].as<uint16_t>();
  auto* const lse_out = out["lse"].as<float>();
  parallelFor(c.rows() * s_q, 0, [&](int64_t i) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t at = i * heads + h;
      const float* lse = c.part_lse.as<float>() + at * splits;
      const float* parts = c.part_out.as<float>() + at * splits * dv;
      auto exists = [&](int64_t n) { return !(std::isinf(lse[n]) && lse[n] < 0); };
      SoftmaxSums s;
      for (int64_t n = 0; n < splits; ++n) {
        if (!exists(n)) continue;
        s.max = s.empty || std::isnan(lse[n]) || lse[n] > s.max ? double{lse[n]} : s.max;
        s.empty = false;
      }
      std::vector<double> sum(dv);
      for (int64_t n = 0; n < splits; ++n) {
        if (!exists(n)) continue;
        const double weight = std::exp(lse[n] - s.max);
        s.sum += weight;
        for (int64_t k = 0; k < dv; ++k) sum[k] += weight * parts[n * dv + k];
      }
      const float* sink = c.sink ? c.sink->as<float>() + h : nullptr;
      const double factor = outputFactor(s, sink);
      for (int64_t k = 0; k < dv; ++k) out_bits[at * dv + k] = encodeBF16(factor == 0 ? 0.0 : sum[k] * factor);
      lse_out[(i / s_q * heads + h) * s_q + i % s_q] = float(lseValue(s, sink, p.lse));
    }
  });
  return out;
}

}  // namespace nereid::kernels
