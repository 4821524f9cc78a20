// page_mark: sets a byte for each page that holds a selected token. One block a (row of indices, tile of its lanes).
#include "kernels_dsl/programs/paged_cache.h"
#include "kernels_dsl/programs/programs.h"

namespace nereid::kernels {
using dsl::Builder, dsl::Type, dsl::Value;

void pageMark(Builder& b, const PageMarkProblem& p, const PageMarkTiles& t) {
  const Value id = b.programId(), width = b.arg("width"), tiles = ceilDiv(width, t.rows);
  const Value row = divUnsigned(id, tiles), lane = (id - row * tiles) * t.rows + b.range(t.rows);
  Value length = width;
  if (p.lengths) length = min(b.loadScalar(b.pointer("topk_length", Type::I32), divUnsigned(row, b.arg("s_q"))), width);
  const Value at = row.to(Type::I64) * width.to(Type::I64) + lane.to(Type::I64);
  // Token numbers stay 64-bit: a mask is made for pools of any size.
  const Value token = b.load(b.pointer("indices", dslType(p.index)), at, lane < length, -1).to(Type::I64);
  const Value selected = (token >= 0) & (token < b.arg("pool_tokens"));
  // Blocks that meet at a byte all store 1.
  const Value one = b.full(1., Type::I8, {t.rows});
  b.store(b.pointer("mask", Type::I8), divUnsigned(token, b.constant(static_cast<double>(p.page_size), Type::I64)), one,
          selected);
}

}  // namespace nereid::kernels
