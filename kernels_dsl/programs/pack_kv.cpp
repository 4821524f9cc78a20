// pack_kv: bf16 rows quantised and written into slots of a cache. One block a tile of rows.
#include <numeric>

#include "kernels_dsl/programs/paged_cache.h"
#include "kernels_dsl/programs/power_of_two.h"
#include "kernels_dsl/programs/programs.h"

namespace nereid::kernels {
using dsl::Builder, dsl::Type, dsl::Value;

namespace {

constexpr float kLargestCode = 448;  // of E4M3
constexpr float kSmallestScale = 1e-4f;

// Rounds to nearest even; numbers beyond the largest code saturate, NaN stays NaN.
Value toCodes(const Value& x) {
  return select(x > kLargestCode, kLargestCode, select(x < -kLargestCode, -kLargestCode, x)).to(Type::F8E4M3);
}

}  // namespace

void packKv(Builder& b, const PackKvProblem& p, const PackKvTiles& t) {
  const KvLayout& layout = *p.layout;
  const Value row = b.programId().to(Type::I64) * t.rows + b.range(t.rows).to(Type::I64), live = row < b.arg("count");
  const Value slot = checkedTokens(b.load(b.pointer("slots", dslType(p.index)), row, live, -1), b.arg("pool_tokens"));
  const Value written = slot >= 0, cache = b.pointer("cache", Type::I8), kv = b.pointer("kv", Type::BF16);
  const TokenAddress at =
      tokenAddress(layout, slot, b.constant(static_cast<double>(p.page_size), Type::I32), b.arg("page_stride"));
  const int align = rowAlign(layout, t.align), span_align = scaleAlign(layout, t.align);

  for (const Cell& c : cells(layout)) {
    const Value x = b.load(kv, (row * layout.d()).col() + (b.range(c.cols) + c.col).to(Type::I64).row(), written.col(), 0.f);
    Value values = x;
    if (c.scale) {
      const Value wide = x.to(Type::F32), amax = reduceMax(abs(wide), 1);
      // Two rules: 2^⌈log2 max(amax/448, 1e-4)⌉, and max(amax, 1e-4)/448 as it is.
      const Value bits = powerAbove(bitcast(max(amax / kLargestCode, kSmallestScale), Type::I32));
      const Value scale = p.pow2 ? bitcast(bits, Type::F32) : max(amax, kSmallestScale) / kLargestCode;
      values = toCodes(wide / scale.col());
      const Value stored =
          *c.scale == ScaleElem::kUE8M0 ? (bits >> kMantissaBits).to(Type::I8) /* a UE8M0 code is the exponent field */ : scale;
      const int byte = c.scale_byte - scaleSpan(layout).at;
      b.scatterRows(cache, at.scales + byte, b.bytes(stored), written, std::gcd(span_align, byte));
    }
    b.scatterRows(cache, at.row + c.byte, b.bytes(values), written, std::gcd(align, c.byte));
  }
}

}  // namespace nereid::kernels
