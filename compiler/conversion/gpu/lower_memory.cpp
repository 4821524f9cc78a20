// Global memory: loads and stores as wide as offsets, masks and layout allow; masked ones share one branch a mask.
#include <numeric>

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/conversion/gpu/lowering.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Layout;

namespace {

// Registers in index order that are neighbours along the last dimension, from the lowest register bits.
int contiguous(const Layout& l) {
  int run = 1;
  for (const layout::Coord& c : l.reg) {
    for (int d = 0; d + 1 < l.rank; d++)
      if (c[d]) return run;
    if (c[l.rank - 1] != run) return run;
    run *= 2;
  }
  return run;
}

Type accessType(OpBuilder& b, int bytes) {
  if (bytes <= 4) return b.getIntegerType(bytes * 8);
  return VectorType::get({bytes / 4}, b.getI32Type());
}

}  // namespace

static int accessWidth(tile::AxisAnalysis& axis, Operation* op, Value offsets, Value mask, Value base, const Layout& l,
                       int element_bytes) {
  int width = contiguous(l);
  if (auto align = op->getAttrOfType<IntegerAttr>(tile::kRowAlignAttr)) {
    if (l.rank == 1) return 1;  // one element a row
    const int bytes = std::min<int>(16, static_cast<int>(align.getInt()));
    return std::max(1, std::min(width, bytes / element_bytes));
  }
  return std::min(width, axis.vectorWidth(offsets, mask, element_bytes, tile::baseAlignment(base)));
}

void Lowering::lowerLoad(tile::LoadOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  const Layout l = layoutOf(op.getResult());
  const int bytes = tile::elementBytes(element), registers = l.registers();
  const int width = accessWidth(axis_, op, op.getOffsets(), op.getMask(), op.getBase(), l, bytes);
  Value base = global(loc, op.getBase());
  const Fragment& offsets = get(op.getOffsets());
  Fragment mask, other;
  if (op.getMask()) mask = get(op.getMask());
  if (op.getOther()) other = unpack(loc, get(op.getOther()), element, registers);
  if (!status_.ok()) return;

  Type access = accessType(b_, width * bytes);
  Type scalar_type = scalarOf(element);
  // Registers of a scalar list, loaded by one access at `address`.
  auto load = [&](Value address) {
    Value raw = LLVM::LoadOp::create(b_, loc, access, address, static_cast<unsigned>(width * bytes));
    Fragment out;
    if (width * bytes <= 4 && width == 1) {
      Value x = raw;
      if (element.isInteger(1))
        x = arith::TruncIOp::create(b_, loc, b_.getI1Type(), raw);
      else if (x.getType() != scalar_type)
        x = LLVM::BitcastOp::create(b_, loc, scalar_type, raw);
      return out.push_back(x), out;
    }
    if (element.isInteger(1)) {
      for (int i = 0; i < width; i++) out.push_back(Value());
    }
    auto v = VectorType::get({width}, element.isInteger(1) ? Type(b_.getI8Type()) : scalar_type);
    Value all = raw.getType() == v ? raw : LLVM::BitcastOp::create(b_, loc, v, raw).getResult();
    for (int i = 0; i < width; i++) {
      Value x = vector::ExtractOp::create(b_, loc, all, i);
      if (element.isInteger(1))
        out[i] = arith::TruncIOp::create(b_, loc, b_.getI1Type(), x);
      else
        out.push_back(x);
    }
    return out;
  };
  auto addressOf = [&](int r) {
    Value o = offsets[r];
    if (o.getType().isInteger(32)) o = arith::ExtSIOp::create(b_, loc, b_.getI64Type(), o);
    return gep(loc, base, mulConstant(loc, o, bytes));
  };
  Fragment result(registers);
  llvm::MapVector<Value, SmallVector<int>> by_mask;
  for (int r = 0; r < registers; r += width) by_mask[mask.empty() ? Value() : mask[r]].push_back(r);
  for (auto& [m, firsts] : by_mask) {
    if (!m) {
      for (int r : firsts)
        for (auto [i, x] : llvm::enumerate(load(addressOf(r)))) result[r + i] = x;
      continue;
    }
    SmallVector<Type> types(firsts.size() * width, element.isInteger(1) ? b_.getI1Type() : scalar_type);
    auto branch = scf::IfOp::create(b_, loc, types, m, true);
    {
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(branch.thenBlock());
      SmallVector<Value> yields;
      for (int r : firsts) llvm::append_range(yields, load(addressOf(r)));
      scf::YieldOp::create(b_, loc, yields);
      b_.setInsertionPointToStart(branch.elseBlock());
      yields.clear();
      Value zero;
      for (int r : firsts)
        for (int i = 0; i < width; i++) {
          if (!other.empty()) {
            yields.push_back(other[r + i]);
            continue;
          }
          if (!zero) zero = arith::ConstantOp::create(b_, loc, b_.getZeroAttr(types[0]));
          yields.push_back(zero);
        }
      scf::YieldOp::create(b_, loc, yields);
    }
    size_t next = 0;
    for (int r : firsts)
      for (int i = 0; i < width; i++) result[r + i] = branch.getResult(next++);
  }
  set(op.getResult(), pack(loc, result, element));
}

void Lowering::lowerStore(tile::StoreOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Type element = type.getElementType();
  const Layout l = layoutOf(op.getValue());
  const int bytes = tile::elementBytes(element), registers = l.registers();
  const int width = accessWidth(axis_, op, op.getOffsets(), op.getMask(), op.getBase(), l, bytes);
  Value base = global(loc, op.getBase());
  Fragment offsets = get(op.getOffsets()), mask;
  Fragment values = unpack(loc, get(op.getValue()), element, registers);
  if (op.getMask()) mask = get(op.getMask());
  if (!status_.ok()) return;
  Value own = owns(loc, l);
  Type access = accessType(b_, width * bytes);
  auto store = [&](int r) {
    Value o = offsets[r];
    if (o.getType().isInteger(32)) o = arith::ExtSIOp::create(b_, loc, b_.getI64Type(), o);
    Value address = gep(loc, base, mulConstant(loc, o, bytes));
    SmallVector<Value> xs(values.begin() + r, values.begin() + r + width);
    if (element.isInteger(1))
      for (Value& x : xs) x = arith::ExtUIOp::create(b_, loc, b_.getI8Type(), x);
    Value raw = xs[0];
    if (width > 1) raw = vector::FromElementsOp::create(b_, loc, VectorType::get({width}, xs[0].getType()), xs);
    if (raw.getType() != access) raw = LLVM::BitcastOp::create(b_, loc, access, raw);
    LLVM::StoreOp::create(b_, loc, raw, address, static_cast<unsigned>(width * bytes));
  };
  llvm::MapVector<Value, SmallVector<int>> by_mask;
  for (int r = 0; r < registers; r += width) by_mask[mask.empty() ? Value() : mask[r]].push_back(r);
  for (auto& [m, firsts] : by_mask) {
    Value condition = m;
    if (own) condition = condition ? arith::AndIOp::create(b_, loc, condition, own).getResult() : own;
    if (!condition) {
      for (int r : firsts) store(r);
      continue;
    }
    auto branch = scf::IfOp::create(b_, loc, condition, false);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    for (int r : firsts) store(r);
  }
}

void Lowering::lowerLoadScalar(tile::LoadScalarOp op) {
  Location loc = op.getLoc();
  Type type = op.getType();
  const int bytes = tile::elementBytes(type);
  Value o = scalar(op.getOffset());
  if (o.getType().isInteger(32)) o = arith::ExtSIOp::create(b_, loc, b_.getI64Type(), o);
  Value address = gep(loc, global(loc, op.getBase()), mulConstant(loc, o, bytes));
  scalars_.map(op.getResult(), LLVM::LoadOp::create(b_, loc, type, address, static_cast<unsigned>(bytes)));
}

void Lowering::lowerTicket(tile::TicketOp op) {
  Location loc = op.getLoc();
  Value at = scratch(loc, 4);
  groupBarrier(loc);  // the block's stores come before thread 0's release
  Value leader =
      arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, arith::OrIOp::create(b_, loc, group_.warp, lane_), i32(loc, 0));
  auto branch = scf::IfOp::create(b_, loc, leader, false);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    Value last = addConstant(loc, scalar(op.getLimit()), -1);
    Value old = LLVM::AtomicRMWOp::create(b_, loc, LLVM::AtomicBinOp::uinc_wrap, global(loc, op.getCounter()), last,
                                          LLVM::AtomicOrdering::acq_rel, "device");
    LLVM::StoreOp::create(b_, loc, old, at, 4u);
  }
  groupBarrier(loc);
  Value number = LLVM::LoadOp::create(b_, loc, b_.getI32Type(), at, 4u);
  scalars_.map(op.getResult(), number);
}

}  // namespace nereid::gpu
