// Tile sizes of each kernel: what a program asks of `Schedule::tile`, with the value where the schedule is silent.
#pragma once
#include "kernels_dsl/spec/problems/problem.h"
#include "runtime/base/result.h"
#include "runtime/spec/schedule.h"

namespace nereid::kernels {

// All sizes are powers of two. `align`: bytes that the base and the page stride of a pool are multiples of; 16 unless the
// schedule says less, which makes copies of rows narrower.
struct SparseDecodeTiles {
  int heads = 16;   // query heads of a block
  int tokens = 32;  // tokens of an iteration
  int align = 16;
};
struct CombineTiles {
  int splits = 8;     // splits that are read at a time
  int columns = 512;  // columns of a block
};
struct GatherDequantTiles {
  int rows = 16;
  int align = 16;
};
struct PackKvTiles {
  int rows = 16;
  int align = 16;
};
struct PageSplitTiles {
  int rows = 32;  // chunks of a block
  int align = 16;
};
struct PageMarkTiles {
  int rows = 1024;  // indices of a block
};

// Errors: a size that is no power of two in its range, and a name that the kernel does not ask for.
Result<SparseDecodeTiles> sparseDecodeTiles(const Schedule& schedule);
Result<CombineTiles> combineTiles(const Schedule& schedule, const CombineProblem& problem);
Result<GatherDequantTiles> gatherDequantTiles(const Schedule& schedule);
Result<PackKvTiles> packKvTiles(const Schedule& schedule);
Result<PageSplitTiles> pageSplitTiles(const Schedule& schedule);
Result<PageMarkTiles> pageMarkTiles(const Schedule& schedule);

// page_split copies pages in chunks of equal size: the most bytes up to 512 that divide the rows and the footers of a destination
// page.
struct SplitChunks {
  int bytes = 0;        // of a chunk
  int64_t rows = 0;     // chunks of rows in a destination page
  int64_t footers = 0;  // chunks of footers
  int64_t perPage() const { return rows + footers; }
};
SplitChunks splitChunks(const PageSplitProblem& problem);

}  // namespace nereid::kernels
