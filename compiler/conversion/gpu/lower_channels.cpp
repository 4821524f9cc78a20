// Channels: rings of slots in shared memory, a full and an empty mbarrier a slot.
//
// Arrivals on `full`: every lane of the writer, after its copies and stores, with the bytes that its own bulk copies bring; once
// more, when its copies have landed, where some payload comes by cp.async. Arrivals on `empty`: every lane of every reader. An
// arrival releases the accesses of its own thread (PTX ISA, "mbarrier"), so no lane leans on another one's, and racecheck can
// follow.
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "compiler/conversion/gpu/lowering.h"
#include "compiler/transforms/assign_layouts.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Layout;

namespace {
constexpr int kSlotAlign = 16;
constexpr int kLineBytes = 128;  // of global memory

int roundUp(int x, int to) { return (x + to - 1) / to * to; }

// Bytes one cp.async moves.
int chunkBytes(int width, int align) {
  for (int c : {16, 8, 4})
    if (width % c == 0 && align % c == 0) return c;
  return 0;
}
}  // namespace

void Lowering::planChannels() {
  tile::WarpsOp warps;
  for (auto op : func_.getBody().getOps<tile::WarpsOp>()) warps = op;
  if (!warps) return;
  auto warpsOf = [&](StringRef name) {
    for (auto [i, n] : llvm::enumerate(warps.getNames().getAsRange<StringAttr>()))
      if (n.getValue() == name) return warps.getWarps()[i] / warps.getGroups()[i];
    return 0;
  };
  for (auto op : func_.getBody().getOps<tile::ChannelOp>()) {
    auto type = cast<tile::ChannelType>(op.getType());
    ChannelPlan plan;
    plan.depth = type.getDepth();
    plan.writer_warps = warpsOf(op.getWriter());
    for (auto r : op.getReaders().getAsRange<StringAttr>()) plan.reader_warps += warpsOf(r.getValue());
    for (Operation* user : op->getUsers())
      if (auto copy = dyn_cast<tile::CopyRowsOp>(user)) (copy.getBulk() ? plan.bulk : plan.async) = true;
    for (auto [i, t] : llvm::enumerate(type.getPayload())) {
      SharedTile p;
      p.type = cast<RankedTensorType>(t);
      p.offset = plan.slot_bytes;
      const uint32_t addends = tile::addendsOf(op.getResult(), static_cast<int>(i));
      p.addends = 1 << llvm::popcount(addends);
      p.pitch = addends ? tile::addendPitch(p.type) : tile::sharedPitch(p.type);
      p.addend_bytes = roundUp(p.pitch * static_cast<int>(p.type.getDimSize(0)), 16);
      plan.slot_bytes += p.addends * p.addend_bytes;
      plan.payload.push_back(p);
    }
    plan.slot_bytes = roundUp(plan.slot_bytes, kSlotAlign);
    plan.base = allocate(plan.slot_bytes * plan.depth, kSlotAlign);
    plan.full = allocate(8 * plan.depth, 8);
    plan.empty = allocate(8 * plan.depth, 8);
    channels_[op.getResult()] = plan;
  }
}

void Lowering::initBarriers(Location loc) {
  if (channels_.empty()) return;
  Value first = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, thread_, i32(loc, 0));
  auto branch = scf::IfOp::create(b_, loc, first, false);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    for (auto op : func_.getBody().getOps<tile::ChannelOp>()) {
      const ChannelPlan& plan = channels_[op.getResult()];
      const int full = 32 * plan.writer_warps * (plan.async ? 2 : 1);
      for (int i = 0; i < plan.depth; i++) {
        nv_.mbarrierInit(loc, sharedAddress(loc, plan.full + 8 * i), full);
        nv_.mbarrierInit(loc, sharedAddress(loc, plan.empty + 8 * i), 32 * plan.reader_warps);
      }
    }
    if (target_.sm >= 90) nv_.fenceMbarrierInit(loc);
  }
  nv_.barrierAll(loc);
}

Value Lowering::barrierOf(Location loc, const ChannelPlan& plan, bool full, Value slot) {
  return gep(loc, sharedAddress(loc, full ? plan.full : plan.empty), mulConstant(loc, slot, 8));
}

Value Lowering::slotBase(Location loc, const ChannelPlan& plan, Value slot) {
  return gep(loc, sharedAddress(loc, plan.base), mulConstant(loc, slot, plan.slot_bytes));
}

void Lowering::waitParity(Location loc, Value barrier, Value parity) {
  auto loop = scf::WhileOp::create(b_, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b_);
  b_.createBlock(&loop.getBefore());
  Value done = nv_.mbarrierTestParity(loc, barrier, parity, target_.has_bulk_copy);
  Value again = arith::XOrIOp::create(b_, loc, done, arith::ConstantOp::create(b_, loc, b_.getBoolAttr(true)));
  scf::ConditionOp::create(b_, loc, again, ValueRange());
  b_.createBlock(&loop.getAfter());
  scf::YieldOp::create(b_, loc);
}

void Lowering::lowerAcquire(tile::AcquireOp op) {
  Location loc = op.getLoc();
  const ChannelPlan& plan = channels_[op.getChannel()];
  waitParity(loc, barrierOf(loc, plan, false, scalar(op.getSlot())), scalar(op.getPhase()));
  transaction_bytes_[op.getChannel()] = i32(loc, 0);
}

void Lowering::lowerWait(tile::WaitOp op) {
  Location loc = op.getLoc();
  const ChannelPlan& plan = channels_[op.getChannel()];
  Value slot = scalar(op.getSlot());
  waitParity(loc, barrierOf(loc, plan, true, slot), scalar(op.getPhase()));
  Value base = slotBase(loc, plan, slot);
  for (auto [p, v] : llvm::zip(plan.payload, op.getPayload())) {
    SharedTile t = p;
    t.base = base;
    t.type = cast<RankedTensorType>(v.getType());
    shared_[v] = t;
  }
}

void Lowering::lowerRelease(tile::ReleaseOp op) {
  Location loc = op.getLoc();
  nv_.mbarrierArrive(loc, barrierOf(loc, channels_[op.getChannel()], false, scalar(op.getSlot())));
}

void Lowering::lowerCommit(tile::CommitOp op) {
  Location loc = op.getLoc();
  const ChannelPlan& plan = channels_[op.getChannel()];
  Value barrier = barrierOf(loc, plan, true, scalar(op.getSlot()));
  if (plan.async) nv_.cpAsyncArriveNoInc(loc, barrier);
  if (plan.bulk)
    nv_.mbarrierArriveExpectTx(loc, barrier, transaction_bytes_[op.getChannel()]);
  else
    nv_.mbarrierArrive(loc, barrier);
}

void Lowering::lowerPut(tile::PutOp op) {
  Location loc = op.getLoc();
  const ChannelPlan& plan = channels_[op.getChannel()];
  SharedTile t = plan.payload[op.getPayload()];
  t.base = slotBase(loc, plan, scalar(op.getSlot()));
  Layout l = layoutOf(op.getValue());
  if (auto sum = op->getAttrOfType<IntegerAttr>(tile::kSumAttr)) l.partial = static_cast<uint32_t>(sum.getInt());
  storeShared(loc, ownAddend(loc, t, l.partial), l, get(op.getValue()));
}

void Lowering::lowerCopyRows(tile::CopyRowsOp op) {
  Location loc = op.getLoc();
  const ChannelPlan& plan = channels_[op.getChannel()];
  const SharedTile& payload = plan.payload[op.getPayload()];
  const int width = static_cast<int>(payload.type.getDimSize(1)), pitch = payload.pitch;
  const Layout l = layoutOf(op.getOffsets());
  const Fragment offsets = get(op.getOffsets()), mask = get(op.getMask());
  if (!status_.ok()) return;
  Value base = global(loc, op.getBase()), slot = scalar(op.getSlot());
  Value barrier = barrierOf(loc, plan, true, slot);

  if (op.getBulk()) {
    Value rows = gep(loc, slotBase(loc, plan, slot), mulConstant(loc, coordinate(loc, l, 0), pitch));
    Value own = owns(loc, l);
    Value bytes = transaction_bytes_[op.getChannel()];
    for (int r = 0; r < l.registers(); r++) {
      Value row = gep(loc, rows, payload.offset + l.regOffset(r)[0] * pitch);
      Value copies = own ? arith::AndIOp::create(b_, loc, mask[r], own).getResult() : mask[r];
      bytes = arith::SelectOp::create(b_, loc, copies, add(loc, bytes, i32(loc, width)), bytes);
      auto branch = scf::IfOp::create(b_, loc, copies, false);
      {
        OpBuilder::InsertionGuard guard(b_);
        b_.setInsertionPointToStart(branch.thenBlock());
        nv_.bulkCopy(loc, row, gep(loc, base, offsets[r]), barrier, i32(loc, width));
      }
      // A masked row is zeroed by plain stores; the fence orders them with the copies that reuse the row later.
      Value masked = arith::XOrIOp::create(b_, loc, mask[r], arith::ConstantOp::create(b_, loc, b_.getBoolAttr(true)));
      if (own) masked = arith::AndIOp::create(b_, loc, masked, own);
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(scf::IfOp::create(b_, loc, masked, false).thenBlock());
      auto zero_type = VectorType::get({4}, b_.getI32Type());
      Value zero = arith::ConstantOp::create(b_, loc, DenseElementsAttr::get(zero_type, b_.getI32IntegerAttr(0)));
      auto loop = scf::ForOp::create(b_, loc, i32(loc, 0), i32(loc, width), i32(loc, 16));
      {
        OpBuilder::InsertionGuard inner(b_);
        b_.setInsertionPoint(loop.getBody()->getTerminator());
        LLVM::StoreOp::create(b_, loc, zero, gep(loc, row, loop.getInductionVar()), 16u);
      }
      nv_.fenceProxyAsyncShared(loc);
    }
    transaction_bytes_[op.getChannel()] = bytes;
    return;
  }

  const int chunk = chunkBytes(width, static_cast<int>(op.getAlign()));
  if (!chunk)
    return fail(op, "rows whose width or alignment is no multiple of 4 bytes cannot be copied asynchronously",
                "align the rows, or run without roles");
  // Lanes whose bits have no row share the row's chunks.
  SmallVector<int> spare;
  for (int bit = 0; bit < 5; bit++)
    if (l.lane[bit][0] == 0) spare.push_back(bit);
  int lanes = 1;
  Value sub = i32(loc, 0);
  for (int bit : spare) {
    if (width / chunk < lanes * 2 || width / chunk % (lanes * 2)) break;
    Value x = arith::AndIOp::create(b_, loc, arith::ShRUIOp::create(b_, loc, lane_, i32(loc, bit)), i32(loc, 1));
    sub = add(loc, sub, mulConstant(loc, x, lanes));
    lanes *= 2;
  }
  // Lanes with rows of their own take turns: a line of one row at a time, so that an access of the warp covers whole lines.
  SmallVector<int> turns;  // lane bits
  Value first = coordinate(loc, l, 0);
  for (int bit = 0; bit < 5 && lanes * chunk < kLineBytes && width / chunk % (lanes * 2) == 0; bit++) {
    if (l.lane[bit][0] == 0) continue;
    Value x = arith::AndIOp::create(b_, loc, arith::ShRUIOp::create(b_, loc, lane_, i32(loc, bit)), i32(loc, 1));
    sub = add(loc, sub, mulConstant(loc, x, lanes));
    first = arith::SubIOp::create(b_, loc, first, mulConstant(loc, x, l.lane[bit][0]));
    turns.push_back(bit);
    lanes *= 2;
  }
  // Spare bits without a chunk of their own, and copies in other warps, stay out.
  Value active;
  int idle = 0;
  for (size_t k = llvm::Log2_32(lanes); k < spare.size(); k++) idle |= 1 << spare[k];
  auto none = [&](Value bits, int m) {
    if (!m) return;
    Value ok =
        arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, arith::AndIOp::create(b_, loc, bits, i32(loc, m)), i32(loc, 0));
    active = active ? arith::AndIOp::create(b_, loc, active, ok).getResult() : ok;
  };
  none(lane_, idle);
  int warp_copies = 0;
  for (size_t bit = 0; bit < l.warp.size(); bit++)
    if (l.warp[bit][0] == 0) warp_copies |= 1 << bit;
  none(group_.warp, warp_copies);
  OpBuilder::InsertionGuard guard(b_);
  if (active) b_.setInsertionPointToStart(scf::IfOp::create(b_, loc, active, false).thenBlock());
  Value sub_bytes = mulConstant(loc, sub, chunk);
  Value row_base = gep(loc, gep(loc, slotBase(loc, plan, slot), mulConstant(loc, first, pitch)), sub_bytes);
  Value zero64 = arith::ConstantOp::create(b_, loc, b_.getI64IntegerAttr(0));
  Value masked = arith::ConstantOp::create(b_, loc, b_.getI64IntegerAttr(std::numeric_limits<int64_t>::min()));
  for (int r = 0; r < l.registers(); r++) {
    Value mine = turns.empty() ? Value() : arith::SelectOp::create(b_, loc, mask[r], offsets[r], masked).getResult();
    for (int turn = 0; turn < 1 << turns.size(); turn++) {
      Value offset = offsets[r], exists = mask[r];
      int row_index = l.regOffset(r)[0];
      if (mine) {
        int from = 0, others = 31;
        for (size_t k = 0; k < turns.size(); k++) {
          others &= ~(1 << turns[k]);
          if (!(turn >> k & 1)) continue;
          from |= 1 << turns[k];
          row_index += l.lane[turns[k]][0];
        }
        Value lane = arith::OrIOp::create(b_, loc, arith::AndIOp::create(b_, loc, lane_, i32(loc, others)), i32(loc, from));
        offset = nv_.shuffle(loc, mine, lane);
        exists = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::ne, offset, masked);
      }
      // A masked row reads no byte; its address stays the pool's start.
      offset = arith::SelectOp::create(b_, loc, exists, offset, zero64);
      Value row = gep(loc, row_base, payload.offset + row_index * pitch);
      Value source = gep(loc, gep(loc, base, offset), sub_bytes);
      Value read = arith::SelectOp::create(b_, loc, exists, i32(loc, chunk), i32(loc, 0));
      for (int k = 0; k < width / chunk / lanes; k++)
        nv_.cpAsync(loc, gep(loc, row, k * chunk * lanes), gep(loc, source, k * chunk * lanes), chunk, read);
    }
  }
}

}  // namespace nereid::gpu
