// Dots: one mma.sync for each 16 x 8 x 16 step, operand words found by their place in the operand layouts.
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
  if (!element.isF16() && !element.isBF16())
    return fail(op, "a dot of 8-bit operands has no lowering to mma.sync m16n8k16", "convert the operands to f16");
  const Product product = element.isF16() ? Product::kF16 : Product::kBF16;
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
  const int nw = lc.reg[0][1];  // columns between an accumulator pair
  const int kk = la.reg[2][1];  // k between the two halves of an operand
  // Origins of the 16-row, 8-column and 16-k steps this warp works on.
  std::set<int> rows, cols, ks;
  for (const auto& [coord, r] : at_c) {
    if (coord[0] % 16 == 0) rows.insert(coord[0]);
    if (at_c.contains({coord[0], coord[1] + nw}) && (coord[1] / nw) % 2 == 0) cols.insert(coord[1]);
  }
  for (const auto& [coord, r] : at_a)
    if (coord[1] % 16 == 0) ks.insert(coord[1]);
  for (int k : ks)
    for (int n : cols) {
      const Value bw[2] = {b[at_b.at({k, n}) / 2], b[at_b.at({k + kk, n}) / 2]};
      for (int m : rows) {
        const Value aw[4] = {a[at_a.at({m, k}) / 2], a[at_a.at({m + 8, k}) / 2], a[at_a.at({m, k + kk}) / 2],
                             a[at_a.at({m + 8, k + kk}) / 2]};
        const int ci[4] = {at_c.at({m, n}), at_c.at({m, n + nw}), at_c.at({m + 8, n}), at_c.at({m + 8, n + nw})};
        const Value cw[4] = {c[ci[0]], c[ci[1]], c[ci[2]], c[ci[3]]};
        auto d = nv_.mma(loc, product, aw, bw, cw);
        for (int i = 0; i < 4; i++) c[ci[i]] = d[i];
      }
    }
  set(op.getResult(), c);
}

}  // namespace nereid::gpu
