// The problem of gather_dequant: selected rows of a cache as bf16 values, exact to the format.
#pragma once
#include "kernels_dsl/spec/kv_layout.h"
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

// kv [n, d] bf16; an index that is no token gives a row of zeros.
struct GatherDequantProblem {
  static constexpr const char* kKernel = "gather_dequant";

  const KvLayout* layout = nullptr;
  int64_t page_size = 0;
  IndexType index = IndexType::kI32;

  static Result<GatherDequantProblem> parse(const ProblemFields& fields);
  ProblemFields fields() const;
  bool operator==(const GatherDequantProblem&) const = default;
};

}  // namespace nereid::kernels
