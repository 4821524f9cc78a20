// Address arithmetic of paged caches. 32-bit inside a page, 64-bit across pages.
#include "kernels_dsl/programs/paged_cache.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace nereid::kernels {
using dsl::Type, dsl::Value;

std::vector<std::vector<Cell>> alignedCells(const std::vector<const KvLayout*>& layouts) {
  std::set<int> ends;
  for (const KvLayout* layout : layouts)
    for (const Cell& c : cells(*layout)) ends.insert(c.col + c.cols);
  std::vector<std::vector<Cell>> out;
  for (const KvLayout* layout : layouts) {
    std::vector<Cell>& parts = out.emplace_back();
    for (Cell rest : cells(*layout))
      while (rest.cols > 0) {
        Cell part = rest;
        part.cols = *ends.upper_bound(rest.col) - rest.col;
        rest.byte += part.cols * elemBytes(rest.elem);
        rest.col += part.cols;
        rest.cols -= part.cols;
        parts.push_back(part);
      }
  }
  return out;
}

ScaleSpan scaleSpan(const KvLayout& layout) {
  if (!layout.hasScales()) return {};
  if (layout.footer_bytes) return {.in_footer = true, .at = 0, .bytes = layout.footer_bytes};
  int begin = layout.row_bytes, end = 0;
  for (const Cell& c : cells(layout)) {
    if (!c.scale) continue;
    begin = std::min(begin, c.scale_byte);
    end = std::max(end, c.scale_byte + scaleBytes(*c.scale));
  }
  return {.in_footer = false, .at = begin, .bytes = end - begin};
}

int rowAlign(const KvLayout& layout, int align) { return std::gcd(align, layout.row_bytes); }

int scaleAlign(const KvLayout& layout, int align) {
  const ScaleSpan span = scaleSpan(layout);
  return std::gcd(rowAlign(layout, align), span.in_footer ? layout.footer_bytes : span.at);
}

Value checkedTokens(const Value& index, const Value& pool_tokens) {
  if (index.type() == Type::I32) return select((index >= 0) & (index < pool_tokens), index, -1);
  return select((index >= 0) & (index < pool_tokens.to(Type::I64)), index, -1).to(Type::I32);
}

TokenAddress tokenAddress(const KvLayout& layout, const Value& page, const Value& slot, const Value& page_size,
                          const Value& page_stride) {
  const ScaleSpan span = scaleSpan(layout);
  const Value start = page.to(Type::I64) * page_stride, wide_slot = slot.to(Type::I64);
  TokenAddress at{.row = start + wide_slot * layout.row_bytes};
  if (span.in_footer) {
    at.scales = start + page_size.to(Type::I64) * layout.row_bytes + wide_slot * layout.footer_bytes;
  } else if (span.bytes) {
    at.scales = at.row + span.at;
  }
  return at;
}

TokenAddress tokenAddress(const KvLayout& layout, const Value& token, const Value& page_size, const Value& page_stride) {
  const Value page = divUnsigned(token, page_size);
  return tokenAddress(layout, page, token - page * page_size, page_size, page_stride);
}

Value cellScale(dsl::Builder& b, const KvLayout& layout, const Cell& cell, const Value& span) {
  return b.column(span, cell.scale_byte - scaleSpan(layout).at, dslType(*cell.scale));
}

}  // namespace nereid::kernels
