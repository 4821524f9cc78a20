// Global memory: loads and stores as wide as offsets, masks and layout allow; masked ones share one branch a mask.
#include <algorithm>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/conversion/gpu/lowering.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Layout;

namespace {

// Registers that hold neighbours along the last dimension, whatever their order: run i of an access at register `first` is
// first + offsets[i].
struct Run {
  std::vector<int> offsets = {0};
  int mask = 0;  // register bits that the run covers

  // As long as the layout has neighbours and `most` allows.
  Run(const Layout& l, int most) {
    for (int step = 1; step < most; step *= 2) {
      layout::Coord neighbour(l.rank, 0);
      neighbour[l.rank - 1] = step;
      const auto bit = std::find(l.reg.begin(), l.reg.end(), neighbour);
      if (bit == l.reg.end()) return;
      const int place = 1 << (bit - l.reg.begin());
      mask |= place;
      for (int i = 0; i < step; i++) offsets.push_back(offsets[i] + place);
    }
  }
  int width() const { return static_cast<int>(offsets.size()); }
  bool startsAt(int r) const { return (r & mask) == 0; }
};

Type accessType(OpBuilder& b, int bytes) {
  if (bytes <= 4) return b.getIntegerType(bytes * 8);
  return VectorType::get({bytes / 4}, b.getI32Type());
}

}  // namespace

static Run accessRun(tile::AxisAnalysis& axis, Operation* op, Value offsets, Value mask, Value base, const Layout& l,
                     int element_bytes) {
  if (auto align = op->getAttrOfType<IntegerAttr>(tile::kRowAlignAttr)) {
    if (l.rank == 1) return Run(l, 1);  // one element a row
    return Run(l, std::min<int>(16, static_cast<int>(align.getInt())) / element_bytes);
  }
  return Run(l, axis.vectorWidth(offsets, mask, element_bytes, tile::baseAlignment(base)));
}

// The index of an element and not of a byte: constants in it can then be taken out into the access (address factoring).
Value Lowering::elementAt(Location loc, Value base, Value offset, int bytes) {
  if (offset.getType().isInteger(32)) offset = arith::ExtSIOp::create(b_, loc, b_.getI64Type(), offset);
  return LLVM::GEPOp::create(b_, loc, base.getType(), b_.getIntegerType(8 * bytes), base, ArrayRef<LLVM::GEPArg>{offset});
}

void Lowering::lowerLoad(tile::LoadOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  const Layout l = layoutOf(op.getResult());
  const int bytes = tile::elementBytes(element), registers = l.registers();
  const Run run = accessRun(axis_, op, op.getOffsets(), op.getMask(), op.getBase(), l, bytes);
  const int width = run.width();
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
  auto addressOf = [&](int r) { return elementAt(loc, base, offsets[r], bytes); };
  Fragment result(registers);
  llvm::MapVector<Value, SmallVector<int>> by_mask;
  for (int r = 0; r < registers; r++)
    if (run.startsAt(r)) by_mask[mask.empty() ? Value() : mask[r]].push_back(r);
  for (auto& [m, firsts] : by_mask) {
    if (!m) {
      for (int r : firsts)
        for (auto [at, x] : llvm::zip(run.offsets, load(addressOf(r)))) result[r + at] = x;
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
        for (int at : run.offsets) {
          if (!other.empty()) {
            yields.push_back(other[r + at]);
            continue;
          }
          if (!zero) zero = arith::ConstantOp::create(b_, loc, b_.getZeroAttr(types[0]));
          yields.push_back(zero);
        }
      scf::YieldOp::create(b_, loc, yields);
    }
    size_t next = 0;
    for (int r : firsts)
      for (int at : run.offsets) result[r + at] = branch.getResult(next++);
  }
  set(op.getResult(), pack(loc, result, element));
}

void Lowering::lowerStore(tile::StoreOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Type element = type.getElementType();
  const Layout l = layoutOf(op.getValue());
  const int bytes = tile::elementBytes(element), registers = l.registers();
  const Run run = accessRun(axis_, op, op.getOffsets(), op.getMask(), op.getBase(), l, bytes);
  const int width = run.width();
  Value base = global(loc, op.getBase());
  Fragment offsets = get(op.getOffsets()), mask;
  Fragment values = unpack(loc, get(op.getValue()), element, registers);
  if (op.getMask()) mask = get(op.getMask());
  if (!status_.ok()) return;
  Value own = owns(loc, l);
  Type access = accessType(b_, width * bytes);
  auto store = [&](int r) {
    Value address = elementAt(loc, base, offsets[r], bytes);
    SmallVector<Value> xs;
    for (int at : run.offsets) xs.push_back(values[r + at]);
    if (element.isInteger(1))
      for (Value& x : xs) x = arith::ExtUIOp::create(b_, loc, b_.getI8Type(), x);
    Value raw = xs[0];
    if (width > 1) raw = vector::FromElementsOp::create(b_, loc, VectorType::get({width}, xs[0].getType()), xs);
    if (raw.getType() != access) raw = LLVM::BitcastOp::create(b_, loc, access, raw);
    LLVM::StoreOp::create(b_, loc, raw, address, static_cast<unsigned>(width * bytes));
  };
  llvm::MapVector<Value, SmallVector<int>> by_mask;
  for (int r = 0; r < registers; r++)
    if (run.startsAt(r)) by_mask[mask.empty() ? Value() : mask[r]].push_back(r);
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
  Value address = elementAt(loc, global(loc, op.getBase()), scalar(op.getOffset()), bytes);
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
