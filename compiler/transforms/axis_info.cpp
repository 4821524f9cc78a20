// Transfer functions of the axis analysis, one case an op; anything unknown has unit divisor and no step.
#include "compiler/transforms/axis_info.h"

#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

#include "compiler/dialect/tile_dialect.h"

namespace nereid::tile {
namespace {
using namespace mlir;

constexpr int64_t kAny = int64_t{1} << 40;  // a multiple of everything that matters (zero)

int rankOf(Value v) {
  auto t = dyn_cast<RankedTensorType>(v.getType());
  return t ? t.getRank() : 0;
}

int64_t divisorOfConstant(int64_t x) { return x == 0 ? kAny : (x & -x); }

// What every element is a multiple of.
int64_t elementDivisor(const AxisInfo& info) {
  int64_t d = info.divisor;
  for (const auto& step : info.step) d = std::gcd(d, step.value_or(0));
  return d;
}

int64_t times(int64_t a, int64_t b) { return std::min(kAny, std::min(a, kAny) > kAny / std::min(b, kAny) ? kAny : a * b); }

}  // namespace

int64_t AxisAnalysis::divisorOf(Value v) { return of(v).divisor; }

const AxisInfo& AxisAnalysis::of(Value v) {
  auto it = memo_.find(v);
  if (it != memo_.end()) return it->second;
  AxisInfo info = compute(v);
  return memo_[v] = std::move(info);
}

AxisInfo AxisAnalysis::compute(Value v) {
  const int rank = rankOf(v);
  AxisInfo out;
  out.step.assign(rank, std::nullopt);
  out.group.assign(rank, 1);
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    if (auto func = dyn_cast_or_null<func::FuncOp>(arg.getOwner()->getParentOp()))
      if (auto align = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kAlignAttr)) out.divisor = align.getInt();
    return out;
  }
  Operation* op = v.getDefiningOp();
  auto uniform = [&](int64_t divisor) {
    out.step.assign(rank, 0);
    out.group.assign(rank, kAny);
    out.divisor = divisor;
    return out;
  };
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant))) return uniform(divisorOfConstant(constant.getSExtValue()));
  if (auto c = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(c.getValue());
    if (splat && isa<IntegerType>(splat.getElementType()))
      return uniform(divisorOfConstant(splat.getSplatValue<APInt>().getSExtValue()));
    return out;
  }
  if (auto splat = dyn_cast<SplatOp>(op)) return uniform(of(splat.getValue()).divisor);
  if (auto range = dyn_cast<RangeOp>(op)) {
    out.step[0] = 1;
    out.divisor = divisorOfConstant(range.getStart());
    return out;
  }
  if (auto bc = dyn_cast<BroadcastOp>(op)) {
    const AxisInfo in = of(bc.getValue());
    const int dim = bc.getDim();
    out.step[1 - dim] = 0;
    out.group[1 - dim] = kAny;
    out.step[dim] = in.step[0];
    out.group[dim] = in.group[0];
    out.divisor = in.divisor;
    return out;
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    out = of(trans.getValue());
    std::swap(out.step[0], out.step[1]);
    std::swap(out.group[0], out.group[1]);
    return out;
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, ConvertLayoutOp>(op)) return of(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    const AxisInfo a = of(op->getOperand(0)), b = of(op->getOperand(1));
    const int sign = isa<arith::SubIOp>(op) ? -1 : 1;
    out.divisor = std::gcd(a.divisor, b.divisor);
    for (int d = 0; d < rank; d++) {
      if (a.step[d] && b.step[d])
        out.step[d] = *a.step[d] + sign * *b.step[d];
      else
        out.divisor = std::gcd(out.divisor, std::gcd(a.step[d].value_or(0), b.step[d].value_or(0)));
    }
    return out;
  }
  if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    const AxisInfo a = of(op->getOperand(0)), b = of(op->getOperand(1));
    std::optional<int64_t> factor;
    auto constantOf = [](Value x) -> std::optional<int64_t> {
      APInt c;
      if (matchPattern(x, m_ConstantInt(&c))) return c.getSExtValue();
      if (auto k = x.getDefiningOp<arith::ConstantOp>())
        if (auto s = dyn_cast<SplatElementsAttr>(k.getValue())) return s.getSplatValue<APInt>().getSExtValue();
      return std::nullopt;
    };
    factor = constantOf(op->getOperand(1));
    if (isa<arith::ShLIOp>(op)) {
      if (!factor) return out;
      factor = int64_t{1} << *factor;
    }
    for (int d = 0; d < rank; d++) {
      if (a.step[d] == 0 && b.step[d] == 0)
        out.step[d] = 0;
      else if (factor && a.step[d])
        out.step[d] = *a.step[d] * *factor;
    }
    out.divisor = factor ? times(a.divisor, divisorOfConstant(*factor)) : times(elementDivisor(a), elementDivisor(b));
    return out;
  }
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    const AxisInfo a = of(cmp.getLhs()), b = of(cmp.getRhs());
    for (int d = 0; d < rank; d++) {
      // What the two are multiples of where index d is 0: the other dimensions' steps count.
      int64_t divisor = std::gcd(a.divisor, b.divisor);
      for (int e = 0; e < rank; e++)
        if (e != d) divisor = std::gcd(divisor, std::gcd(a.step[e].value_or(0), b.step[e].value_or(0)));
      if (a.step[d] == 0 && b.step[d] == 0) out.group[d] = kAny, out.step[d] = 0;
      // base + i < limit with both multiples of g: true or false for whole groups of g.
      else if (a.step[d] == 1 && b.step[d] == 0 &&
               (cmp.getPredicate() == arith::CmpIPredicate::slt || cmp.getPredicate() == arith::CmpIPredicate::ult))
        out.group[d] = divisor;
    }
    return out;
  }
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op)) {
    out.group.assign(rank, kAny);
    out.step.assign(rank, 0);
    for (Value x : op->getOperands()) {
      if (rankOf(x) == 0) continue;
      const AxisInfo in = of(x);
      for (int d = 0; d < rank; d++) {
        out.group[d] = std::gcd(out.group[d], in.group[d]);
        if (in.step[d] != 0) out.step[d] = std::nullopt;
      }
    }
    return out;
  }
  return out;
}

int AxisAnalysis::vectorWidth(Value offsets, Value mask, int element_bytes, int base_align) {
  const AxisInfo info = of(offsets);
  if (info.step.empty() || info.step.back() != 1) return 1;
  int64_t width = 16 / element_bytes;
  // Every other dimension must step by whole vectors.
  int64_t divisor = info.divisor;
  for (size_t d = 0; d + 1 < info.step.size(); d++) divisor = std::gcd(divisor, info.step[d].value_or(0));
  while (width > 1 && (divisor % width || base_align % (width * element_bytes))) width /= 2;
  if (mask) {
    const AxisInfo m = of(mask);
    while (width > 1 && m.group.back() % width) width /= 2;
  }
  return static_cast<int>(std::max<int64_t>(width, 1));
}

int baseAlignment(Value base) {
  auto arg = dyn_cast<BlockArgument>(base);
  if (!arg) return 1;
  auto func = dyn_cast_or_null<func::FuncOp>(arg.getOwner()->getParentOp());
  auto align = func ? func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kAlignAttr) : IntegerAttr();
  return align ? static_cast<int>(align.getInt()) : 1;
}

}  // namespace nereid::tile
