// Reductions: registers, then lanes by shuffles, then warps through shared memory; every copy ends with the same bits.
#include <map>

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "compiler/conversion/gpu/lowering.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Coord;
using layout::Layout;

Value Lowering::combine(Location loc, tile::ReduceKind kind, Value a, Value b) {
  const bool is_float = isa<FloatType>(a.getType());
  switch (kind) {
    case tile::ReduceKind::Add:
      return is_float ? arith::AddFOp::create(b_, loc, a, b).getResult() : arith::AddIOp::create(b_, loc, a, b).getResult();
    case tile::ReduceKind::Max:
      return is_float ? LLVM::MaxNumOp::create(b_, loc, a, b).getResult() : arith::MaxSIOp::create(b_, loc, a, b).getResult();
    case tile::ReduceKind::Min:
      return is_float ? LLVM::MinNumOp::create(b_, loc, a, b).getResult() : arith::MinSIOp::create(b_, loc, a, b).getResult();
    case tile::ReduceKind::Or: return arith::OrIOp::create(b_, loc, a, b);
  }
  return a;
}

void Lowering::lowerReduce(tile::ReduceOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Type element = type.getElementType();
  const int dim = op.getDim();
  const Layout l = layoutOf(op.getValue());
  const tile::ReduceKind kind = op.getKind();
  Fragment scalars = unpack(loc, get(op.getValue()), element, l.registers());
  if (!status_.ok()) return;

  // Registers that differ only along dim, in index order, as a balanced tree.
  std::map<Coord, SmallVector<Value>> groups;
  std::vector<Coord> order;
  for (int r = 0; r < l.registers(); r++) {
    Coord c = l.regOffset(r);
    c.erase(c.begin() + dim);
    if (!groups.contains(c)) order.push_back(c);
    groups[c].push_back(scalars[r]);
  }
  Fragment values;
  for (const Coord& c : order) {
    SmallVector<Value> xs = groups[c];
    while (xs.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i + 1 < xs.size(); i += 2) next.push_back(combine(loc, kind, xs[i], xs[i + 1]));
      if (xs.size() % 2) next.push_back(xs.back());
      xs = next;
    }
    values.push_back(xs[0]);
  }

  const bool votes = kind == tile::ReduceKind::Or && element.isInteger(1) && !isa<RankedTensorType>(op.getType());
  if (votes) values[0] = nv_.any(loc, values[0]);

  // Shuffles take words; small types travel as i32 or f32.
  Type wide = element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32) wide = b_.getF32Type();
  if (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() < 32) wide = b_.getI32Type();
  auto widen = [&](Value x) {
    if (x.getType() == wide) return x;
    if (isa<FloatType>(wide)) return arith::ExtFOp::create(b_, loc, wide, x).getResult();
    return element.isInteger(1) ? arith::ExtUIOp::create(b_, loc, wide, x).getResult()
                                : arith::ExtSIOp::create(b_, loc, wide, x).getResult();
  };
  auto narrow = [&](Value x) {
    if (wide == element) return x;
    return isa<FloatType>(wide) ? arith::TruncFOp::create(b_, loc, element, x).getResult()
                                : arith::TruncIOp::create(b_, loc, element, x).getResult();
  };
  if (wide.getIntOrFloatBitWidth() != 32) return fail(op, "a reduction of 64-bit elements over lanes", "reduce 32-bit values");
  for (Value& x : values) x = widen(x);
  for (int bit = 0; bit < 5; bit++)
    if (l.lane[bit][dim] && !votes)
      for (Value& x : values) x = combine(loc, kind, x, nv_.shuffleXor(loc, x, 1 << bit));

  int warp_mask = 0;
  for (size_t bit = 0; bit < l.warp.size(); bit++)
    if (l.warp[bit][dim]) warp_mask |= 1 << bit;
  if (warp_mask) {
    const int bytes = static_cast<int>(values.size()) * 128;
    Value at = scratch(loc, group_.warps * bytes);
    auto addressOf = [&](Value warp) {
      return gep(loc, at, add(loc, mulConstant(loc, warp, bytes), mulConstant(loc, lane_, 4)));
    };
    Value own = addressOf(group_.warp);
    Operation* reuse = groupBarrier(loc);
    for (auto [i, x] : llvm::enumerate(values)) LLVM::StoreOp::create(b_, loc, x, gep(loc, own, static_cast<int>(i) * 128), 4u);
    exchange_barriers_.push_back({reuse, groupBarrier(loc)});
    SmallVector<int> masks = {0};
    for (int bit = 0; bit < 32; bit++)
      if (warp_mask >> bit & 1)
        for (int i = 0, n = masks.size(); i < n; i++) masks.push_back(masks[i] | 1 << bit);
    SmallVector<Fragment> parts;
    for (int mask : masks) {
      Fragment part = values;
      if (mask) {
        Value address = addressOf(arith::XOrIOp::create(b_, loc, group_.warp, i32(loc, mask)));
        for (auto [i, x] : llvm::enumerate(part))
          x = LLVM::LoadOp::create(b_, loc, wide, gep(loc, address, static_cast<int>(i) * 128), 4u);
      }
      parts.push_back(part);
    }
    while (parts.size() > 1) {
      SmallVector<Fragment> next;
      for (size_t i = 0; i < parts.size(); i += 2) {
        Fragment sum;
        for (size_t r = 0; r < values.size(); r++) sum.push_back(combine(loc, kind, parts[i][r], parts[i + 1][r]));
        next.push_back(sum);
      }
      parts = next;
    }
    values = parts[0];
  }
  for (Value& x : values) x = narrow(x);

  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!result) return scalars_.map(op.getResult(), values[0]);
  const Layout to = layoutOf(op.getResult());
  Fragment out;
  for (int r = 0; r < to.registers(); r++) {
    auto it = llvm::find(order, to.regOffset(r));
    if (it == order.end()) return fail(op, "a reduction's result layout is no slice of its operand's", "report this program");
    out.push_back(values[it - order.begin()]);
  }
  set(op.getResult(), pack(loc, out, element));
}

}  // namespace nereid::gpu
