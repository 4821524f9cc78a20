// Addresses in a paged cache, and the scales of its rows: what every program that reads or writes a cache shares.
#pragma once
#include <vector>

#include "compiler/dsl/dsl.h"
#include "kernels_dsl/spec/kv_layout.h"
#include "kernels_dsl/spec/problems/conventions.h"

namespace nereid::kernels {

inline dsl::Type dslType(IndexType index) { return index == IndexType::kI64 ? dsl::Type::I64 : dsl::Type::I32; }
inline dsl::Type dslType(Elem elem) { return elem == Elem::kE4M3 ? dsl::Type::F8E4M3 : dsl::Type::BF16; }
inline dsl::Type dslType(ScaleElem elem) { return elem == ScaleElem::kUE8M0 ? dsl::Type::F8E8M0 : dsl::Type::F32; }

// The cells of layouts with the same number of columns, cut so that the n-th cell has the same columns in each.
std::vector<std::vector<Cell>> alignedCells(const std::vector<const KvLayout*>& layouts);

// The bytes of a token that hold its scales: the whole footer, or the part of the row from the first scale to the last.
struct ScaleSpan {
  bool in_footer = false;
  int at = 0;     // in the footer or row
  int bytes = 0;  // 0: the layout has no scales
};
ScaleSpan scaleSpan(const KvLayout& layout);

// Bytes that rows and spans of scales start at a multiple of, if base and page stride are multiples of `align`.
int rowAlign(const KvLayout& layout, int align);
int scaleAlign(const KvLayout& layout, int align);

// Indices of i32 or i64 as i32; one that is no token of the pool becomes -1.
dsl::Value checkedTokens(const dsl::Value& index, const dsl::Value& pool_tokens);

// Byte offsets (i64) of tokens' rows and of their spans of scales (absent if the layout has none).
struct TokenAddress {
  dsl::Value row, scales;
};
// `page` and `slot` (i32): page of each token and its place in the page. `page_size` is an i32 scalar, `page_stride` i64.
TokenAddress tokenAddress(const KvLayout& layout, const dsl::Value& page, const dsl::Value& slot, const dsl::Value& page_size,
                          const dsl::Value& page_stride);
TokenAddress tokenAddress(const KvLayout& layout, const dsl::Value& token, const dsl::Value& page_size,
                          const dsl::Value& page_stride);

// The scale of a cell in gathered spans of scales, as it is stored, [rows].
dsl::Value cellScale(dsl::Builder& b, const KvLayout& layout, const Cell& cell, const dsl::Value& span);

}  // namespace nereid::kernels
