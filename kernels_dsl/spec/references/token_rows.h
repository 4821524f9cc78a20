// Tokens of a pool for references: which indices are tokens, where their bytes are, what values they have.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels_dsl/spec/case.h"

namespace nereid::kernels {

// Element i of an i32 or i64 tensor.
inline int64_t indexAt(const Tensor& indices, int64_t i) {
  return indices.dtype() == DType::kI64 ? indices.as<int64_t>()[i] : indices.as<int32_t>()[i];
}

// Lanes of a list of `topk` lanes that a length leaves: clamped to [0, topk].
inline int64_t clampLength(int64_t length, int64_t topk) { return length < 0 ? 0 : length > topk ? topk : length; }

class TokenRows {
 public:
  TokenRows(const KvLayout& layout, int64_t page_size, const Pool& pool)
      : TokenRows(layout, page_size, pool.bytes.as<uint8_t>(), pool.pages(), pool.stride()) {}
  TokenRows(const KvLayout& layout, int64_t page_size, const uint8_t* bytes, int64_t pages, int64_t stride)
      : layout_(layout), cells_(cells(layout)), page_size_(page_size), pages_(pages), stride_(stride), bytes_(bytes) {}

  // An index below 0 or past the pool is no token.
  bool isToken(int64_t index) const { return index >= 0 && index < pages_ * page_size_; }
  // Byte of the pool at which the token's row, and its footer, start.
  int64_t rowOffset(int64_t token) const { return token / page_size_ * stride_ + token % page_size_ * layout_.row_bytes; }
  int64_t footerOffsetOf(int64_t token) const {
    return token / page_size_ * stride_ + footerOffset(layout_, page_size_) + token % page_size_ * layout_.footer_bytes;
  }
  // The byte at which a cell's scale lies.
  int64_t scaleOffset(int64_t token, const Cell& cell) const {
    return (layout_.footer_bytes ? footerOffsetOf(token) : rowOffset(token)) + cell.scale_byte;
  }
  // The token's values before scaling and each cell's scale: value = code · scale.
  float scaleOf(int64_t token, const Cell& cell) const;
  float codeOf(int64_t token, const Cell& cell, int col_of_cell) const;
  // d values, exact in double.
  void decode(int64_t token, double* values) const;
  const std::vector<Cell>& rowCells() const { return cells_; }

 private:
  const KvLayout& layout_;
  std::vector<Cell> cells_;
  int64_t page_size_, pages_, stride_;
  const uint8_t* bytes_;
};

}  // namespace nereid::kernels
