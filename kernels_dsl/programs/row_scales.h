// A token's scales, split so that narrow types hold the numbers that products are made of.
#pragma once
#include <vector>

#include "compiler/dsl/dsl.h"
#include "kernels_dsl/spec/kv_layout.h"

namespace nereid::kernels {

// The largest scale is kept 2^7 lower and rests as much higher: the product of a weight up to 2^6 and a scale up to 2^127 stays
// finite, and a rest in f16 reaches further down.
inline constexpr float kLargestDown = 0x1p-7f, kRestUp = 0x1p7f;

// Scale of a cell = largest · rest, where largest is a power of two, one a row; f32 [rows]. Where a cell has no scale, or the
// layout none, the value is absent.
struct RowScales {
  std::vector<dsl::Value> scale;  // by cell
  std::vector<dsl::Value> rest;   // by cell: in (0, 1] · kRestUp; NaN if the scale is
  dsl::Value largest;             // times kLargestDown
};

// Scales by cell, as they are stored, [rows], absent where there is none. Their bytes are gathered from `base` + `offsets`
// (TokenAddress.scales), also where they lie in the row: whoever copies rows then has them at once. Zeros for rows that are not
// `selected`.
std::vector<dsl::Value> gatherScales(dsl::Builder& b, const KvLayout& layout, const std::vector<Cell>& cells,
                                     const dsl::Value& base, const dsl::Value& offsets, const dsl::Value& selected, int align);

// `scales`: as gatherScales gives them.
RowScales splitScales(const std::vector<dsl::Value>& scales, const dsl::Value& selected);

}  // namespace nereid::kernels
