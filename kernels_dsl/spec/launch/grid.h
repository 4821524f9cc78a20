// How many blocks a call of a kernel has.
#pragma once
#include "kernels_dsl/spec/problems/problem.h"
#include "runtime/base/result.h"
#include "runtime/spec/schedule.h"

namespace nereid::kernels {

// Run-time sizes of a call.
struct CallSize {
  int64_t rows = 0;   // sparse_decode, combine: query rows (batch · s_q); gather_dequant, pack_kv: count; page_split: source
                      // pages; page_mark: rows of indices
  int64_t width = 0;  // page_mark: indices of a row; a call without lengths may take all indices as one row
};

// 0 where there is nothing to do: then nothing is launched. Errors: more blocks than a grid holds (2^31 − 1), which names the
// size.
Result<int64_t> gridSize(const Problem& problem, const Schedule& schedule, CallSize size);

}  // namespace nereid::kernels
