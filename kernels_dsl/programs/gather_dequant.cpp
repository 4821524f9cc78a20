// gather_dequant: selected rows of a cache as bf16. One block a tile of rows.
#include "kernels_dsl/programs/paged_cache.h"
#include "kernels_dsl/programs/programs.h"

namespace nereid::kernels {
using dsl::Builder, dsl::Type, dsl::Value;

void gatherDequant(Builder& b, const GatherDequantProblem& p, const GatherDequantTiles& t) {
  const KvLayout& layout = *p.layout;
  const Value row = b.programId().to(Type::I64) * t.rows + b.range(t.rows).to(Type::I64), live = row < b.arg("count");
  const Value token = checkedTokens(b.load(b.pointer("indices", dslType(p.index)), row, live, -1), b.arg("pool_tokens"));
  const Value selected = token >= 0, pool = b.pointer("k_cache", Type::I8);
  const TokenAddress at =
      tokenAddress(layout, token, b.constant(static_cast<double>(p.page_size), Type::I32), b.arg("page_stride"));
  const Value bytes = b.gatherRows(pool, at.row, layout.row_bytes, selected, rowAlign(layout, t.align));
  Value scales;
  if (at.scales.present()) scales = b.gatherRows(pool, at.scales, scaleSpan(layout).bytes, selected, scaleAlign(layout, t.align));

  const Value kv = b.pointer("kv", Type::BF16);
  for (const Cell& c : cells(layout)) {
    Value x = b.view(bytes, c.byte, dslType(c.elem), c.cols);
    // The exact product, rounded to f32 and then to bf16. Masked rows are zero bytes and give zeros.
    if (c.scale) x = (x.to(Type::F32) * cellScale(b, layout, c, scales).to(Type::F32).col()).to(Type::BF16);
    b.store(kv, (row * layout.d()).col() + (b.range(c.cols) + c.col).to(Type::I64).row(), x, live.col());
  }
}

}  // namespace nereid::kernels
