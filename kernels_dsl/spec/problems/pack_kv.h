// The problem of pack_kv: bf16 rows are quantised and written into given slots of a cache.
#pragma once
#include "kernels_dsl/spec/kv_layout.h"
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

struct PackKvProblem {
  static constexpr const char* kKernel = "pack_kv";

  const KvLayout* layout = nullptr;
  int64_t page_size = 0;
  IndexType index = IndexType::kI32;  // of the slots
  bool pow2 = false;                  // float32 scales rounded up to powers of two; implied by a layout whose scales are

  static Result<PackKvProblem> parse(const ProblemFields& fields);
  ProblemFields fields() const;
  bool operator==(const PackKvProblem&) const = default;
};

}  // namespace nereid::kernels
