// Bytes of a token to values, cell by cell.
#include "kernels_dsl/spec/references/token_rows.h"

#include <cstring>

#include "kernels_dsl/spec/formats.h"

namespace nereid::kernels {

float TokenRows::scaleOf(int64_t token, const Cell& cell) const {
  if (!cell.scale) return 1.0f;
  const uint8_t* at = bytes_ + scaleOffset(token, cell);
  if (*cell.scale == ScaleElem::kUE8M0) return decodeUE8M0(*at);
  float scale;
  std::memcpy(&scale, at, sizeof(scale));  // rows of 656 bytes at any stride: not aligned
  return scale;
}

float TokenRows::codeOf(int64_t token, const Cell& cell, int col_of_cell) const {
  const uint8_t* at = bytes_ + rowOffset(token) + cell.byte + int64_t(col_of_cell) * elemBytes(cell.elem);
  if (cell.elem == Elem::kE4M3) return decodeE4M3(*at);
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return decodeBF16(bits);
}

void TokenRows::decode(int64_t token, double* values) const {
  for (const Cell& cell : cells_) {
    const double scale = scaleOf(token, cell);
    for (int c = 0; c < cell.cols; ++c) values[cell.col + c] = codeOf(token, cell, c) * scale;
  }
}

}  // namespace nereid::kernels
