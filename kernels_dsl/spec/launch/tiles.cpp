// Tile sizes read from a schedule.
#include "kernels_dsl/spec/launch/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <numeric>

namespace nereid::kernels {
namespace {

struct Size {
  const char* name;
  int* value;
  int high;  // largest accepted
};

Status read(const Schedule& schedule, const char* kernel, std::initializer_list<Size> sizes) {
  std::string known;
  for (const Size& s : sizes)
    known += fmt::format("{}tile.{} (a power of two up to {})", known.empty() ? "" : ", ", s.name, s.high);
  for (const auto& [name, value] : schedule.tile) {
    const auto size = std::find_if(sizes.begin(), sizes.end(), [&](const Size& s) { return name == s.name; });
    if (size == sizes.end())
      return Diag{Code::kUsage, fmt::format("{} has no tile size {}", kernel, name), "schedule", "accepted: " + known};
    if (value < 1 || value > size->high || !std::has_single_bit(static_cast<unsigned>(value)))
      return Diag{Code::kUsage, fmt::format("tile.{} of {} is {}", name, kernel, value), "schedule", "accepted: " + known};
    *size->value = value;
  }
  return {};
}

constexpr int kMaxTile = 4096;
constexpr int kMaxAlign = 16;

}  // namespace

Result<SparseDecodeTiles> sparseDecodeTiles(const Schedule& schedule) {
  SparseDecodeTiles t;
  NEREID_CHECK_OK(read(schedule, SparseDecodeProblem::kKernel,
                       {{"heads", &t.heads, 256}, {"tokens", &t.tokens, 256}, {"align", &t.align, kMaxAlign}}));
  return t;
}

Result<CombineTiles> combineTiles(const Schedule& schedule, const CombineProblem& problem) {
  CombineTiles t;
  t.splits = std::min<int>(t.splits, std::bit_ceil(static_cast<unsigned>(problem.splits)));
  t.columns = std::min<int>(t.columns, std::bit_ceil(static_cast<unsigned>(problem.head_dim_v)));
  NEREID_CHECK_OK(read(schedule, CombineProblem::kKernel, {{"splits", &t.splits, 1024}, {"columns", &t.columns, kMaxTile}}));
  return t;
}

Result<GatherDequantTiles> gatherDequantTiles(const Schedule& schedule) {
  GatherDequantTiles t;
  NEREID_CHECK_OK(read(schedule, GatherDequantProblem::kKernel, {{"rows", &t.rows, kMaxTile}, {"align", &t.align, kMaxAlign}}));
  return t;
}

Result<PackKvTiles> packKvTiles(const Schedule& schedule) {
  PackKvTiles t;
  NEREID_CHECK_OK(read(schedule, PackKvProblem::kKernel, {{"rows", &t.rows, kMaxTile}, {"align", &t.align, kMaxAlign}}));
  return t;
}

Result<PageSplitTiles> pageSplitTiles(const Schedule& schedule) {
  PageSplitTiles t;
  NEREID_CHECK_OK(read(schedule, PageSplitProblem::kKernel, {{"rows", &t.rows, kMaxTile}, {"align", &t.align, kMaxAlign}}));
  return t;
}

Result<PageMarkTiles> pageMarkTiles(const Schedule& schedule) {
  PageMarkTiles t;
  NEREID_CHECK_OK(read(schedule, PageMarkProblem::kKernel, {{"rows", &t.rows, kMaxTile}}));
  return t;
}

SplitChunks splitChunks(const PageSplitProblem& problem) {
  const int64_t rows = problem.dst_page_size * problem.layout->row_bytes,
                footers = problem.dst_page_size * problem.layout->footer_bytes;
  constexpr int64_t kChunkBytes = 512;
  SplitChunks c;
  c.bytes = static_cast<int>(std::gcd(std::gcd(rows, footers), kChunkBytes));
  c.rows = rows / c.bytes;
  c.footers = footers / c.bytes;
  return c;
}

}  // namespace nereid::kernels
