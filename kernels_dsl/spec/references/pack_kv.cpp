// pack_kv: a cell's scale from its largest magnitude, values divided by it in float32 and rounded to e4m3.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels_dsl/spec/formats.h"
#include "kernels_dsl/spec/references/reference.h"
#include "kernels_dsl/spec/references/token_rows.h"

namespace nereid::kernels {
namespace {

// Floors that keep a tile of zeros from a scale of 0.
constexpr double kLeastPow2Scale = 1e-4;  // before rounding up to a power of two
constexpr float kLeastAmax = 1e-4f;       // of a float32 scale

float scaleFor(float amax, bool pow2) {
  if (!pow2) return std::max(amax, kLeastAmax) / kE4M3Max;
  int exponent = 0;
  const double fraction = std::frexp(std::max(amax / double{kE4M3Max}, kLeastPow2Scale), &exponent);
  return std::ldexp(1.0f, fraction == 0.5 ? exponent - 1 : exponent);
}

void packCell(const Cell& cell, const uint16_t* kv, bool pow2, uint8_t* row, uint8_t* scale_at) {
  if (!cell.scale) {
    std::memcpy(row + cell.byte, kv + cell.col, size_t(cell.cols) * sizeof(uint16_t));
    return;
  }
  float amax = 0;
  for (int k = 0; k < cell.cols; ++k) amax = std::max(amax, std::fabs(decodeBF16(kv[cell.col + k])));
  const float scale = scaleFor(amax, pow2);
  for (int k = 0; k < cell.cols; ++k) row[cell.byte + k] = encodeE4M3(decodeBF16(kv[cell.col + k]) / scale);
  if (*cell.scale == ScaleElem::kUE8M0)
    *scale_at = encodeUE8M0(scale);
  else
    std::memcpy(scale_at, &scale, sizeof(scale));
}

}  // namespace

// In the order of kv: of two rows with one slot the later stays.
Result<TensorMap> referencePackKv(const PackCase& c) {
  NEREID_TRY(TensorMap out, initialOutputs(c));
  const KvLayout& layout = *c.problem.layout;
  const TokenRows rows(layout, c.problem.page_size, c.cache_before);
  auto* const bytes = out["cache"].as<uint8_t>();
  for (int64_t i = 0; i < c.kv.dim(0); ++i) {
    const int64_t slot = indexAt(c.slots, i);
    if (!rows.isToken(slot)) continue;
    for (const Cell& cell : rows.rowCells())
      packCell(cell, c.kv.as<uint16_t>() + i * layout.d(), c.problem.pow2, bytes + rows.rowOffset(slot),
               bytes + rows.scaleOffset(slot, cell));
  }
  return out;
}

}  // namespace nereid::kernels
