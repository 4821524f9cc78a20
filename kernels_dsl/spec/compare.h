// Computed against expected outputs, by the limits that `nereid run --check` states.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels_dsl/spec/case.h"

namespace nereid::kernels {

struct Limits {
  double out = 3e-3;      // relative Frobenius error of the whole tensor
  double out_row = 6e-3;  // the same of each (row, query, head), so that one lost token shows
  double lse = 2e-5;      // |Δ| / max(1, |lse|) of each element
};
// Products in fp8 have limits of their own.
Limits limitsFor(Arith arith);
Limits limitsFor(const Call& call);

struct OutputComparison {
  std::string name;
  double rel_error = 0;  // out: the whole tensor; lse: the worst element; others: 0
  double worst_row = 0;  // out: the worst (row, query, head); lse: the worst element; others: 0
  int64_t worst_index =
      0;               // its place: of the (row, query, head) counted in order, or of the element; others: the first difference
  double max_abs = 0;  // largest difference of two finite values
  double limit = 0;    // of rel_error
  int64_t mismatches = 0;  // NaN or infinity in another place; lse: also elements over the limit; others: elements that differ
  bool ok = false;
};

// One comparison for each expected tensor, by name. NaN equals NaN whatever its bits. A missing tensor, or one of another type
// or shape, is an error.
Result<std::vector<OutputComparison>> compareOutputs(const TensorMap& expected, const TensorMap& got, const Limits& limits);

}  // namespace nereid::kernels
