// Dots: one mma.sync for each step of 16 x 8 and 16 of k, or 32 of one-byte operands. Operand words are found by their place in
// the operand layouts.
#include <map>
#include <set>

#include "compiler/conversion/gpu/lowering.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Coord;
using layout::Layout;

void Lowering::lowerDot(tile::DotOp op) {
  Location loc = op.getLoc();
  Type element = cast<RankedTensorType>(op.getA().getType()).getElementType();
  const bool f8 = isa<Float8E4M3FNType>(element);
  if (f8 && !target_.has_fp8)
    return fail(op, "target " + target_.name + " has no products of e4m3", "convert the operands to f16, or take sm_89 or later");
  if (!f8 && !element.isF16() && !element.isBF16())
    return fail(op, "mma.sync has no products of these operands", "convert them to f16, bf16 or f8E4M3FN");
  const Product product = f8 ? Product::kE4M3 : element.isF16() ? Product::kF16 : Product::kBF16;
  const int pack = f8 ? 4 : 2, step = f8 ? 32 : 16;  // elements a word, k of an instruction
  const Layout la = layoutOf(op.getA()), lb = layoutOf(op.getB()), lc = layoutOf(op.getResult());
  const Fragment a = get(op.getA()), b = get(op.getB());
  Fragment c = get(op.getC());
  if (!status_.ok()) return;

  auto index = [](const Layout& l) {
    std::map<Coord, int> at;
    for (int r = 0; r < l.registers(); r++) at[l.regOffset(r)] = r;
    return at;
  };
  const auto at_a = index(la), at_b = index(lb), at_c = index(lc);
  const int nw = lc.reg[0][1];           // columns between an accumulator pair
  const int kk = la.reg[f8 ? 3 : 2][1];  // k between the two halves of an operand
  // Origins of the rows, columns and k of the steps that this warp works on.
  std::set<int> rows, cols, ks;
  for (const auto& [coord, r] : at_c) {
    if (coord[0] % 16 == 0) rows.insert(coord[0]);
    if (at_c.contains({coord[0], coord[1] + nw}) && (coord[1] / nw) % 2 == 0) cols.insert(coord[1]);
  }
  for (const auto& [coord, r] : at_a)
    if (coord[1] % step == 0) ks.insert(coord[1]);
  for (int k : ks)
    for (int n : cols) {
      const Value bw[2] = {b[at_b.at({k, n}) / pack], b[at_b.at({k + kk, n}) / pack]};
      for (int m : rows) {
        const Value aw[4] = {a[at_a.at({m, k}) / pack], a[at_a.at({m + 8, k}) / pack], a[at_a.at({m, k + kk}) / pack],
                             a[at_a.at({m + 8, k + kk}) / pack]};
        const int ci[4] = {at_c.at({m, n}), at_c.at({m, n + nw}), at_c.at({m + 8, n}), at_c.at({m + 8, n + nw})};
        const Value cw[4] = {c[ci[0]], c[ci[1]], c[ci[2]], c[ci[3]]};
        auto d = nv_.mma(loc, product, aw, bw, cw);
        for (int i = 0; i < 4; i++) c[ci[i]] = d[i];
      }
    }
  set(op.getResult(), c);
}

}  // namespace nereid::gpu
