// Grid sizes, one function a kernel.
#include "kernels_dsl/spec/launch/grid.h"

#include <fmt/format.h>

#include "kernels_dsl/spec/launch/tiles.h"

namespace nereid::kernels {
namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

Result<int64_t> blocksOf(const SparseDecodeProblem& p, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const SparseDecodeTiles t, sparseDecodeTiles(schedule));
  return size.rows * ceilDiv(p.heads, t.heads) * schedule.splits;
}

Result<int64_t> blocksOf(const CombineProblem& p, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const CombineTiles t, combineTiles(schedule, p));
  return size.rows * p.heads * ceilDiv(p.head_dim_v, t.columns);
}

Result<int64_t> blocksOf(const GatherDequantProblem&, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const GatherDequantTiles t, gatherDequantTiles(schedule));
  return ceilDiv(size.rows, t.rows);
}

Result<int64_t> blocksOf(const PackKvProblem&, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const PackKvTiles t, packKvTiles(schedule));
  return ceilDiv(size.rows, t.rows);
}

Result<int64_t> blocksOf(const PageSplitProblem& p, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const PageSplitTiles t, pageSplitTiles(schedule));
  return ceilDiv(size.rows * p.ratio() * splitChunks(p).perPage(), t.rows);
}

Result<int64_t> blocksOf(const PageMarkProblem&, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const PageMarkTiles t, pageMarkTiles(schedule));
  return size.rows * ceilDiv(size.width, t.rows);
}

}  // namespace

Result<int64_t> gridSize(const Problem& problem, const Schedule& schedule, CallSize size) {
  NEREID_TRY(const int64_t blocks, std::visit([&](const auto& p) { return blocksOf(p, schedule, size); }, problem));
  if (blocks > INT32_MAX)
    return Diag{Code::kUnsupported, fmt::format("{} rows make {} blocks, a grid holds {}", size.rows, blocks, INT32_MAX),
                kernelOf(problem), "split the call, or use larger tiles"};
  return blocks;
}

}  // namespace nereid::kernels
