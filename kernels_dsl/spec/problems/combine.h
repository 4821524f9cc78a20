// The problem of combine: merges the partial results of splits.
#pragma once
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

// part_out [B, S, H, N, Dv] f32 and part_lse [B, S, H, N] f32 (natural, without sink, −inf for an empty part) become
// out [B, S, H, Dv] bf16 and lse [B, H, S] f32.
struct CombineProblem {
  static constexpr const char* kKernel = "combine";

  int64_t heads = 0;
  int64_t head_dim_v = 512;
  int64_t splits = 0;
  int64_t s_q = 1;
  bool sink = false;
  LseConvention lse;

  static Result<CombineProblem> parse(const ProblemFields& fields);
  ProblemFields fields() const;
  bool operator==(const CombineProblem&) const = default;
};

}  // namespace nereid::kernels
