// The problem of sparse_decode: attention of query rows over selected rows of one or two paged caches.
#pragma once
#include "kernels_dsl/spec/kv_layout.h"
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

// One KV cache with its own indices: page size and width of the index list. With generic specialisation both are hints, 0 if
// unknown.
struct SourceProblem {
  const KvLayout* layout = nullptr;  // null: the source does not exist
  int64_t page_size = 0;
  int64_t topk = 0;
  IndexType index = IndexType::kI32;
  bool lengths = false;  // there is a length a row
  bool exists() const { return layout != nullptr; }
  bool operator==(const SourceProblem&) const = default;
};

struct SparseDecodeProblem {
  static constexpr const char* kKernel = "sparse_decode";

  SourceProblem source, extra;
  int64_t heads = 0;
  int64_t d_qk = 0;        // columns of q as given; those past the layout's d are not read
  int64_t head_dim_v = 0;  // columns of out: the first of a row
  int64_t s_q = 1;         // queries a row
  bool sink = false;
  LseConvention lse;
  Arith arith = Arith::kF16;
  bool batch_invariant = false;  // splits depend on the row's own width only
  int64_t rows = 0;              // hint for the schedule, not in the key; 0: unknown
  Specialise specialise = Specialise::kExact;

  bool generic() const { return specialise == Specialise::kGeneric; }
  int64_t d() const { return source.layout->d(); }  // columns that scores sum over

  // Keys of `nereid compile sparse_decode`. `extra_index` is the width of the second source's indices (default: index).
  static Result<SparseDecodeProblem> parse(const ProblemFields& fields);
  // The key: every value that the kernel depends on, none that it does not. parse(fields()) gives the same kernel.
  ProblemFields fields() const;
  bool operator==(const SparseDecodeProblem&) const = default;
};

}  // namespace nereid::kernels
