// sparse_decode: gather, scores, softmax with sink, weighted sum; all in double, two passes a head.
#include <cmath>
#include <vector>

#include "kernels_dsl/spec/formats.h"
#include "kernels_dsl/spec/references/reference.h"
#include "kernels_dsl/spec/references/softmax_outputs.h"
#include "kernels_dsl/spec/references/token_rows.h"
#include "runtime/base/thread_pool.h"

namespace nereid::kernels {
namespace {

// Values of the selected tokens of one query, source after source, each lane that is a token once.
void gatherSource(const SourceProblem& problem, const SourceTensors& source, int64_t row, int64_t query,
                  std::vector<double>& kv) {
  const TokenRows rows(*problem.layout, problem.page_size, source.cache);
  const int64_t topk = source.indices.dim(2), d = problem.layout->d();
  const int64_t lanes = source.lengths ? clampLength(source.lengths->as<int32_t>()[row], topk) : topk;
  const int64_t first = (row * source.indices.dim(1) + query) * topk;
  for (int64_t k = 0; k < lanes; ++k) {
    const int64_t index = indexAt(source.indices, first + k);
    if (!rows.isToken(index)) continue;
    kv.resize(kv.size() + d);
    rows.decode(index, kv.data() + kv.size() - d);
  }
}

// Scores become exp(score − max) in place. A NaN score makes the maximum NaN.
SoftmaxSums softmax(std::vector<double>& scores) {
  SoftmaxSums s;
  if (scores.empty()) return s;
  s.empty = false;
  s.max = scores[0];
  for (double x : scores) s.max = std::isnan(x) || x > s.max ? x : s.max;
  for (double& x : scores) {
    x = std::exp(x - s.max);
    s.sum += x;
  }
  return s;
}

}  // namespace

Result<TensorMap> referenceSparseDecode(const DecodeCase& c) {
  NEREID_TRY(TensorMap out, initialOutputs(c));
  const SparseDecodeProblem& p = c.problem;
  const int64_t s_q = p.s_q, heads = p.heads, d = p.d(), dv = p.head_dim_v;
  auto* const out_bits = out["out"].as<uint16_t>();
  auto* const lse = out["lse"].as<float>();
  parallelFor(c.rows() * s_q, 0, [&](int64_t i) {
    const int64_t row = i / s_q, query = i % s_q;
    std::vector<double> kv;
    gatherSource(p.source, c.source, row, query, kv);
    if (c.extra) gatherSource(p.extra, *c.extra, row, query, kv);
    const int64_t tokens = int64_t(kv.size()) / d;
    std::vector<double> q(d), scores(tokens), sum(dv);
    for (int64_t h = 0; h < heads; ++h) {
      const uint16_t* q_bits = c.q.as<uint16_t>() + (i * heads + h) * p.d_qk;
      for (int64_t k = 0; k < d; ++k) q[k] = decodeBF16(q_bits[k]);
      for (int64_t t = 0; t < tokens; ++t) {
        double score = 0;
        for (int64_t k = 0; k < d; ++k) score += q[k] * kv[t * d + k];
        scores[t] = score * c.softmax_scale;
      }
      const SoftmaxSums s = softmax(scores);
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t k = 0; k < dv; ++k) sum[k] += scores[t] * kv[t * d + k];
      const float* sink = c.sink ? c.sink->as<float>() + h : nullptr;
      const double factor = outputFactor(s, sink);
      // A factor of 0 gives 0, also where the sum is infinite.
      for (int64_t k = 0; k < dv; ++k) out_bits[(i * heads + h) * dv + k] = encodeBF16(factor == 0 ? 0.0 : sum[k] * factor);
      lse[(row * heads + h) * s_q + query] = float(lseValue(s, sink, p.lse));
    }
  });
  return out;
}

}  // namespace nereid::kernels
