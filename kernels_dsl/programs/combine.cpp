// combine: merges the partial results of splits. One block a (row, head, block of columns).
#include <bit>
#include <cmath>

#include "kernels_dsl/programs/lse.h"
#include "kernels_dsl/programs/programs.h"

namespace nereid::kernels {
using dsl::Builder, dsl::Type, dsl::Value;

void combine(Builder& b, const CombineProblem& p, const CombineTiles& t) {
  const int dv = static_cast<int>(p.head_dim_v), heads = static_cast<int>(p.heads), splits = static_cast<int>(p.splits);
  const int column_blocks = (dv + t.columns - 1) / t.columns;
  const Value id = b.programId(), column_block = remUnsigned(id, column_blocks);
  const Value row_head = divUnsigned(id, column_blocks), row = divUnsigned(row_head, heads), head = remUnsigned(row_head, heads);
  const Value part_out = b.pointer("part_out", Type::F32), part_lse = b.pointer("part_lse", Type::F32);
  const Value first = row_head.to(Type::I64) * splits;

  // Every split's sum at once: a loop over them would wait for memory once a split.
  const Value all = b.range(std::bit_ceil(static_cast<unsigned>(splits)));
  const Value logs = b.load(part_lse, first + all.to(Type::I64), all < splits, -INFINITY) * kLog2e;
  const Value top = reduceMax(logs, 0);
  RowSoftmax s{.reference = select(top == -INFINITY, 0.f, top)};
  s.sum = reduceSum(exp2(logs - s.reference), 0);
  Value sink;
  if (p.sink) sink = b.loadScalar(b.pointer("attn_sink", Type::F32), head) * kLog2e;
  const Value scale = select(s.empty(), 0.f, 1.f / denominator(s, sink));

  const Value column = column_block * t.columns + b.range(t.columns), stored = column < dv;
  std::vector<Value> state{b.full(0., Type::F32, {t.columns})};
  b.loop("splits", 0, (splits + t.splits - 1) / t.splits, state, [&](Value i, std::vector<Value>& st) {
    const Value split = i * t.splits + b.range(t.splits), at = first + split.to(Type::I64);
    const Value log = b.load(part_lse, at, split < splits, -INFINITY) * kLog2e;
    // What an empty part holds has no meaning, so it is not read.
    const Value part =
        b.load(part_out, (at * dv).col() + column.to(Type::I64).row(), (log != -INFINITY).col() & stored.row(), 0.f);
    st[0] = st[0] + reduceSum(part * exp2(log - s.reference).col(), 0);
  });
  b.store(b.pointer("out", Type::BF16), row_head.to(Type::I64) * dv + column.to(Type::I64), (state[0] * scale).to(Type::BF16),
          stored);

  b.when(column_block == 0, [&] {
    const int s_q = static_cast<int>(p.s_q);
    const Value at =
        (divUnsigned(row, s_q).to(Type::I64) * heads + head.to(Type::I64)) * s_q + remUnsigned(row, s_q).to(Type::I64);
    b.store(b.pointer("lse", Type::F32), b.full(at, {1}), b.full(lseValue(s, sink, p.lse), {1}));
  });
}

}  // namespace nereid::kernels
