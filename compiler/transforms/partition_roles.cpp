// Cutting by roles: ownership analysis, then one clone of the needed ops a role.
#include "compiler/transforms/partition_roles.h"

#include <fmt/format.h>

#include <list>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/dialect/tile_dialect.h"
#include "compiler/transforms/apply_schedule.h"

namespace nereid::tile {
namespace {
using namespace mlir;

constexpr int kFree = -1;  // depends on no anchor: cloned where used
constexpr int kLoad = 0;   // index of the role that gathers

struct RoleInfo {
  std::string name;
  int warps = 0;
  int groups = 1;
  int registers = 0;
};

// A channel of one loop: payload values in order, its one writer, and its readers.
struct ChannelPlan {
  scf::ForOp loop;  // null: after the loops, depth 1
  int writer = 0;
  int depth = 0;
  SetVector<Value> payload;
  llvm::SetVector<int> readers;
  Value channel;
};

scf::ForOp enclosingLoop(Operation* op) { return op->getParentOfType<scf::ForOp>(); }

class Partition {
 public:
  Partition(func::FuncOp func, std::vector<RoleInfo> roles) : func_(func), roles_(std::move(roles)) {}

  Status run() {
    func_.walk([&](DotOp dot) { with_dots_.insert(static_cast<int>(dot->getAttrOfType<IntegerAttr>(kRoleAttr).getInt())); });
    NEREID_CHECK_OK(findOwners());
    NEREID_CHECK_OK(checkDots());
    findNeeds();
    if (!status_.ok()) return status_;
    build();
    return status_;
  }

 private:
  Diag unsupported(Operation* op, std::string what, std::string fix) {
    std::string where;
    llvm::raw_string_ostream(where) << op->getLoc();
    return Diag{Code::kUnsupported, std::move(what), where, std::move(fix)};
  }

  // --- ownership

  // A gather whose rows go to other roles. One that only feeds staged values is read by `load` itself.
  bool isRingGather(Operation* op) const { return isa<GatherRowsOp>(op) && enclosingLoop(op) && !private_gathers_.contains(op); }

  static bool feedsOnlyStaged(Operation* op) {
    if (isa<StagedOp>(op)) return true;
    if (op->getNumResults() == 0 || op->use_empty() || isa<scf::YieldOp>(op)) return false;
    return llvm::all_of(op->getUsers(), feedsOnlyStaged);
  }

  int ownerOf(Value v) const {
    auto it = owner_.find(v);
    return it == owner_.end() ? kFree : it->second;
  }

  bool raise(Value v, int owner) {
    if (owner <= ownerOf(v)) return false;
    owner_[v] = owner;
    return true;
  }

  // A role without dots behind one with dots takes over where the dots' sums are needed as a whole.
  bool helps(int role) const { return role > kLoad + 1 && !with_dots_.contains(role) && with_dots_.contains(role - 1); }

  // Whether a sum that is split over warps may stay addends through op, as assign_layouts has it.
  static bool keepsAddends(Operation* op) {
    if (isa<arith::MulFOp>(op))
      return llvm::any_of(op->getUsers(), [](Operation* u) { return isa<arith::AddFOp, arith::SubFOp, DotOp, scf::YieldOp>(u); });
    if (isa<scf::IfOp>(op)) return op->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    return isa<DotOp, arith::AddFOp, arith::SubFOp>(op);
  }

  // The owner that an op's operands (its regions' included) ask for.
  int demandOf(Operation* op) const {
    int owner = kFree;
    op->walk([&](Operation* inner) {
      if (auto dot = dyn_cast<DotOp>(inner))
        owner = std::max(owner, static_cast<int>(dot->getAttrOfType<IntegerAttr>(kRoleAttr).getInt()));
      for (Value v : inner->getOperands()) owner = std::max(owner, ownerOf(v));
    });
    const bool passes = owner + 1 < static_cast<int>(roles_.size()) && helps(owner + 1) && !keepsAddends(op);
    return passes ? owner + 1 : owner;
  }

  Status findOwners() {
    func_.walk([&](GatherRowsOp gather) {
      if (enclosingLoop(gather) && feedsOnlyStaged(gather)) private_gathers_.insert(gather);
    });
    // What `load` computes: the slice that addresses gathers and the one behind staged values, and which of it reads memory.
    Operation* read_back = nullptr;
    func_.walk([&](Operation* anchor) {
      if (isa<StagedOp>(anchor) && enclosingLoop(anchor)) {
        address_slice_.insert(anchor);
        sent_.insert(anchor);
      } else if (!isRingGather(anchor)) {
        return;
      }
      SmallVector<Value> work(anchor->getOperands());
      while (!work.empty()) {
        Operation* def = work.pop_back_val().getDefiningOp();
        if (!def || enclosingLoop(def) != enclosingLoop(anchor) || !address_slice_.insert(def).second) continue;
        if (isRingGather(def)) read_back = def;
        work.append(def->operand_begin(), def->operand_end());
      }
    });
    if (read_back)
      return unsupported(read_back, "the role load reads rows that it gathers for other roles",
                         "gather what is staged or addresses rows by itself");
    for (bool changed = true; changed;) {
      changed = false;
      func_.walk([&](Operation* op) {
        if (isa<func::FuncOp>(op) || isRingGather(op)) return;
        if (address_slice_.contains(op)) {
          bool reads = isa<LoadOp, GatherRowsOp>(op);
          for (Value v : op->getOperands()) reads |= v.getDefiningOp() && sent_.contains(v.getDefiningOp());
          if (reads) changed |= sent_.insert(op).second;
          return;
        }
        if (auto loop = dyn_cast<scf::ForOp>(op)) {
          for (auto [arg, init, yield, result] :
               llvm::zip(loop.getRegionIterArgs(), loop.getInits(), loop.getYieldedValues(), loop.getResults())) {
            const int o = std::max({ownerOf(init), ownerOf(yield), ownerOf(arg), ownerOf(result)});
            changed |= raise(arg, o);
            changed |= raise(result, o);
          }
          return;
        }
        if (op->getNumResults() == 0) return;
        const int o = demandOf(op);
        for (Value r : op->getResults()) changed |= raise(r, o);
      });
    }
    slideCuts();
    Status status;
    func_.walk([&](scf::ForOp loop) {
      bool gathers = false;
      loop.walk([&](GatherRowsOp) { gathers = true; });
      if (gathers && enclosingLoop(loop))
        status = unsupported(loop, "a loop that gathers rows lies in another loop", "run it without roles");
    });
    return status;
  }

  // An elementwise op whose users all lie in a later role moves there where that makes no more bytes cross: what several products
  // share is sent once, and a wide result of a narrow operand is made where it is used.
  void slideCuts() {
    DenseSet<Value> crosses;
    auto bytesOf = [](Value v) {
      auto t = dyn_cast<RankedTensorType>(v.getType());
      return t ? t.getNumElements() * elementBytes(t.getElementType()) : 8;
    };
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<Operation*> ops;
      func_.walk([&](Operation* op) {
        if (op->getNumResults() == 1 && !op->getNumRegions() && ownerOf(op->getResult(0)) > kLoad && !isa<DotOp, ReduceOp>(op) &&
            isMemoryEffectFree(op))
          ops.push_back(op);
      });
      for (Operation* op : llvm::reverse(ops)) {
        const int owner = ownerOf(op->getResult(0));
        int later = kFree;
        bool movable = !op->use_empty();
        for (Operation* user : op->getUsers()) {
          const int o = isa<scf::YieldOp>(user) || user->getNumResults() == 0 ? kFree : roleOf(user);
          if (o <= owner || (later != kFree && o != later)) movable = false;
          later = o;
        }
        if (!movable) continue;
        int64_t added = 0;
        const llvm::SmallSetVector<Value, 4> operands(op->operand_begin(), op->operand_end());
        for (Value v : operands)
          if (ownerOf(v) != kFree && ownerOf(v) != later && !crosses.contains(v)) added += bytesOf(v);
        if (added > bytesOf(op->getResult(0))) continue;
        for (Value v : op->getOperands())
          if (ownerOf(v) != kFree && ownerOf(v) != later) crosses.insert(v);
        owner_[op->getResult(0)] = later;
        changed = true;
      }
    }
  }

  // Ops whose operand is sent rather than their result, which is wider.
  static bool madeByReader(Operation* op) { return isa<BroadcastOp>(op); }

  // A dot runs on the warps of its grid, so in the role that the schedule gives it, or nowhere.
  Status checkDots() {
    Status status;
    func_.walk([&](DotOp dot) {
      const int wanted = static_cast<int>(dot->getAttrOfType<IntegerAttr>(kRoleAttr).getInt());
      Operation* unit = dot;  // an scf.if goes to one role as a whole
      while (isa<scf::IfOp>(unit->getParentOp())) unit = unit->getParentOp();
      const int owner = roleOf(unit);
      if (owner == wanted || !status.ok()) return;
      status = unsupported(dot,
                           fmt::format("dot {} depends on what role {} computes, and its role is {}", dot.getLabel(),
                                       roles_[owner].name, roles_[wanted].name),
                           "give both to one role, or list its role later");
    });
    return status;
  }

  // The role that computes op itself, kFree for cloned ones. Effects without an owner run in the first compute role.
  int roleOf(Operation* op) const {
    if (isRingGather(op) || sent_.contains(op)) return kLoad;
    int o = kFree;
    if (op->getNumResults()) {
      for (Value r : op->getResults()) o = std::max(o, ownerOf(r));
      return o;
    }
    return std::max(demandOf(op), kLoad + 1);
  }

  // --- needs and channels

  ChannelPlan& channelFor(scf::ForOp loop, int writer, int reader) {
    // What a role sends in a loop shares one channel, whoever reads it. A helper takes a value at once, so one slot is enough.
    for (ChannelPlan& c : channels_)
      if (c.loop == loop && c.writer == writer) {
        c.readers.insert(reader);
        if (loop && writer != kLoad && !helps(reader)) c.depth = 2;
        return c;
      }
    ChannelPlan c;
    c.loop = loop;
    c.writer = writer;
    c.depth = !loop || helps(reader) ? 1 : 2;
    if (loop && writer == kLoad) c.depth = static_cast<int>(func_->getAttrOfType<IntegerAttr>(kStagesAttr).getInt());
    c.readers.insert(reader);
    channels_.push_back(c);
    return channels_.back();
  }

  void need(int role, Value v) {
    if (!needed_[role].insert(v.getAsOpaquePointer()).second) return;
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
      if (!loop) return;
      needOp(role, loop);
      if (arg.getArgNumber() == 0) return;
      const int owner = ownerOf(v);
      if (owner != kFree && owner != role) return crossing(role, owner, v, loop);
      needCarried(role, loop, arg.getArgNumber() - 1);
      return;
    }
    Operation* def = v.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(def)) {
      const int owner = ownerOf(v);
      if (owner != kFree && owner != role) return crossing(role, owner, v, nullptr);
      needOp(role, loop);
      needCarried(role, loop, cast<OpResult>(v).getResultNumber());
      return;
    }
    const int owner = roleOf(def);
    if (owner != kFree && owner != role && !madeByReader(def)) return crossing(role, owner, v, enclosingLoop(def));
    needOp(role, def);
  }

  void needCarried(int role, scf::ForOp loop, int i) {
    need(role, loop.getInits()[i]);
    need(role, loop.getYieldedValues()[i]);
    needed_[role].insert(loop.getRegionIterArg(i).getAsOpaquePointer());
    needed_[role].insert(loop.getResult(i).getAsOpaquePointer());
  }

  void crossing(int reader, int writer, Value v, scf::ForOp loop) {
    if (!isa<RankedTensorType>(v.getType())) {
      Operation* place = v.getDefiningOp() ? v.getDefiningOp() : loop.getOperation();
      return fail(unsupported(
          place, fmt::format("role {} needs a scalar that role {} computes", roles_[reader].name, roles_[writer].name),
          "give the dots that it depends on to one role"));
    }
    if (loop) needOp(reader, loop);
    channelFor(loop, writer, reader).payload.insert(v);
    if (!isRingGather(v.getDefiningOp() ? v.getDefiningOp() : loop.getOperation()))
      need(writer, v);
    else
      needOp(writer, v.getDefiningOp());
  }

  void needOp(int role, Operation* op) {
    if (!needed_ops_[role].insert(op).second) return;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (Value v : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) need(role, v);
    } else if (op->getNumRegions()) {
      op->walk([&](Operation* inner) {
        for (Value v : inner->getOperands())
          if (!op->isProperAncestor(v.getParentRegion()->getParentOp()) && v.getParentRegion()->getParentOp() != op)
            need(role, v);
      });
    } else {
      for (Value v : op->getOperands()) need(role, v);
    }
    if (Operation* parent = op->getParentOp(); parent && isa<scf::ForOp>(parent)) needOp(role, parent);
  }

  void findNeeds() {
    needed_.resize(roles_.size());
    needed_ops_.resize(roles_.size());
    std::vector<std::pair<int, Operation*>> roots;
    for (Block& block : func_.getBody())
      block.walk([&](Operation* op) {
        if (isRingGather(op)) roots.push_back({kLoad, op});
        // An op with regions (scf.if with effects) is one unit.
        else if (op->getNumResults() == 0 && !isa<scf::ForOp, scf::YieldOp, func::ReturnOp>(op) &&
                 !op->getParentOfType<scf::IfOp>())
          roots.push_back({roleOf(op), op});
      });
    for (auto [role, op] : roots) needOp(role, op);
  }

  // --- building

  struct Position {
    Value slot, phase;
  };

  // Cloning state of one role.
  struct Cloner {
    Cloner(int role, OpBuilder b) : role(role), b(b) {}
    int role;
    OpBuilder b;
    IRMapping map;
    DenseMap<ChannelPlan*, Position> position;
    DenseSet<ChannelPlan*> open;  // acquired or waited for in this iteration
    DenseMap<ChannelPlan*, int> copies_to_come;
    SmallVector<std::pair<Value, Location>> waiting;  // to be sent behind the last copy
  };

  Value i32(OpBuilder& b, Location loc, int x) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(x)); }

  // `step` slots on; at most once round the ring.
  Position next(OpBuilder& b, Location loc, Position p, int step, int depth) {
    Value bumped = arith::AddIOp::create(b, loc, p.slot, i32(b, loc, step));
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, bumped, i32(b, loc, depth));
    Value around = arith::SubIOp::create(b, loc, bumped, i32(b, loc, depth));
    Value flipped = arith::XOrIOp::create(b, loc, p.phase, i32(b, loc, 1));
    return {arith::SelectOp::create(b, loc, wraps, around, bumped), arith::SelectOp::create(b, loc, wraps, flipped, p.phase)};
  }

  bool needs(int role, Value v) const { return needed_[role].contains(v.getAsOpaquePointer()); }

  // Payload values that this op's role has to send right after it is computed.
  void sendResults(Cloner& c, ValueRange values, scf::ForOp loop, Location loc) {
    for (ChannelPlan& ch : channels_) {
      if (ch.writer != c.role || ch.loop != loop) continue;
      for (Value v : values)
        if (ch.payload.contains(v) && !(v.getDefiningOp() && isRingGather(v.getDefiningOp()))) {
          // The slot that rows are copied into is asked for when they are: what is known earlier waits.
          if (c.copies_to_come.contains(&ch)) {
            c.waiting.push_back({v, loc});
            continue;
          }
          acquire(c, ch, loc);
          const int index = llvm::find(ch.payload, v) - ch.payload.begin();
          PutOp::create(c.b, loc, ch.channel, c.position[&ch].slot, index, c.map.lookup(v));
        }
    }
  }

  void acquire(Cloner& c, ChannelPlan& ch, Location loc) {
    if (!c.open.insert(&ch).second) return;
    // A fresh slot is empty: the writer waits for the phase before the first.
    if (!ch.loop) c.position[&ch] = {i32(c.b, loc, 0), i32(c.b, loc, 1)};
    if (!ch.loop && roles_[c.role].groups > 1)
      fail(Diag{Code::kUnsupported, fmt::format("role {} has groups and sends a value outside a loop", roles_[c.role].name),
                "schedule", "use one group"});
    AcquireOp::create(c.b, loc, ch.channel, c.position[&ch].slot, c.position[&ch].phase);
  }

  // Makes every operand of op that comes from another role available: waits for its channel at the first use.
  void receive(Cloner& c, Operation* op, scf::ForOp loop) {
    for (ChannelPlan& ch : channels_) {
      if (!ch.readers.contains(c.role) || c.open.contains(&ch) || (ch.loop && ch.loop != loop)) continue;
      bool uses = false;
      op->walk([&](Operation* inner) {
        for (Value v : inner->getOperands()) uses |= ch.payload.contains(v);
      });
      if (!uses || (!ch.loop && loop)) continue;
      // What an earlier role sends in this loop is there by then; a wait for it costs nothing before the longer one.
      for (ChannelPlan& earlier : channels_)
        if (loop && earlier.loop == loop && earlier.writer < ch.writer && earlier.readers.contains(c.role))
          waitFor(c, earlier, op->getLoc());
      waitFor(c, ch, op->getLoc());
    }
  }

  void waitFor(Cloner& c, ChannelPlan& ch, Location loc) {
    if (!c.open.insert(&ch).second) return;
    if (!ch.loop) c.position[&ch] = {i32(c.b, loc, 0), i32(c.b, loc, 0)};
    SmallVector<Type> types;
    for (Value v : ch.payload) types.push_back(v.getType());
    auto wait = WaitOp::create(c.b, loc, types, ch.channel, c.position[&ch].slot, c.position[&ch].phase);
    for (auto [v, got] : llvm::zip(ch.payload, wait.getPayload())) c.map.map(v, got);
  }

  // The last op of `block` that this role clones and that touches channel `ch`'s payload, for an early release.
  Operation* lastUse(Cloner& c, ChannelPlan& ch, Block& block) {
    // Uses count through values that are only views of the payload.
    DenseSet<Value> reach(ch.payload.begin(), ch.payload.end());
    Operation* last = nullptr;
    for (Operation& op : block.without_terminator()) {
      if (!needed_ops_[c.role].contains(&op)) continue;
      bool uses = false;
      op.walk([&](Operation* inner) {
        for (Value v : inner->getOperands()) uses |= reach.contains(v);
      });
      if (!uses) continue;
      last = &op;
      // Lazily read: anything without an anchor may be computed where it is used.
      if (roleOf(&op) == kFree || madeByReader(&op))
        for (Value r : op.getResults()) reach.insert(r);
    }
    return last;
  }

  void cloneBlock(Cloner& c, Block& block, scf::ForOp loop) {
    DenseMap<Operation*, SmallVector<ChannelPlan*>> releases;
    for (ChannelPlan& ch : channels_) {
      if (ch.loop != loop) continue;
      if (ch.readers.contains(c.role))
        if (Operation* last = lastUse(c, ch, block)) releases[last].push_back(&ch);
      if (ch.writer == c.role)
        for (Value v : ch.payload)
          if (v.getDefiningOp() && isRingGather(v.getDefiningOp())) c.copies_to_come[&ch]++;
    }
    for (Operation& op : block.without_terminator()) {
      if (needed_ops_[c.role].contains(&op)) {
        receive(c, &op, loop);
        cloneOp(c, &op, loop);
      }
      for (ChannelPlan* ch : releases.lookup(&op)) ReleaseOp::create(c.b, op.getLoc(), ch->channel, c.position[ch].slot);
    }
    // What only the block's end uses is given back there.
    for (ChannelPlan& ch : channels_)
      if (ch.loop == loop && ch.readers.contains(c.role) && c.open.contains(&ch) && !lastUse(c, ch, block))
        ReleaseOp::create(c.b, block.back().getLoc(), ch.channel, c.position[&ch].slot);
    for (ChannelPlan& ch : channels_)
      if (ch.loop == loop && ch.writer == c.role && c.open.contains(&ch))
        CommitOp::create(c.b, block.back().getLoc(), ch.channel, c.position[&ch].slot);
  }

  void cloneOp(Cloner& c, Operation* op, scf::ForOp loop) {
    Location loc = op->getLoc();
    if (auto inner = dyn_cast<scf::ForOp>(op)) return cloneLoop(c, inner, loop);
    if (isRingGather(op)) {
      auto gather = cast<GatherRowsOp>(op);
      for (ChannelPlan& ch : channels_)
        if (ch.loop == loop && ch.payload.contains(gather.getResult())) {
          acquire(c, ch, loc);
          const int index = llvm::find(ch.payload, gather.getResult()) - ch.payload.begin();
          CopyRowsOp::create(c.b, loc, ch.channel, c.position[&ch].slot, index, c.map.lookupOrDefault(gather.getBase()),
                             c.map.lookupOrDefault(gather.getOffsets()), c.map.lookupOrDefault(gather.getMask()),
                             gather.getAlign(), op->getAttrOfType<BoolAttr>(kBulkAttr).getValue());
          if (--c.copies_to_come[&ch]) continue;
          c.copies_to_come.erase(&ch);
          for (auto [v, where] : std::exchange(c.waiting, {})) sendResults(c, v, loop, where);
        }
      return;
    }
    if (c.role == kLoad && loaded_ahead_.contains(op)) return sendResults(c, op->getResults(), loop, loc);
    if (auto staged = dyn_cast<StagedOp>(op))
      c.map.map(staged.getResult(), c.map.lookup(staged.getValue()));
    else
      c.b.clone(*op, c.map);
    sendResults(c, op->getResults(), loop, loc);
  }

  // --- loads one iteration ahead

  // The ops of the loop's body behind `op` in program order, or nothing if they depend on carried values or other memory reads.
  std::optional<SmallVector<Operation*>> invariantSlice(scf::ForOp loop, Operation* op) {
    DenseSet<Operation*> slice;
    SmallVector<Value> work(op->getOperands());
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (auto arg = dyn_cast<BlockArgument>(v)) {
        if (arg.getOwner() == loop.getBody() && arg.getArgNumber() != 0) return std::nullopt;
        continue;
      }
      Operation* def = v.getDefiningOp();
      if (def->getBlock() != loop.getBody() || !slice.insert(def).second) continue;
      if (!isMemoryEffectFree(def) || def->getNumRegions()) return std::nullopt;
      work.append(def->operand_begin(), def->operand_end());
    }
    SmallVector<Operation*> order;
    for (Operation& inner : loop.getBody()->without_terminator())
      if (slice.contains(&inner)) order.push_back(&inner);
    return order;
  }

  // `load` as it is in iteration `iv`, masked by `runs` (whether there is such an iteration).
  Value loadAt(Cloner& c, scf::ForOp loop, LoadOp load, ArrayRef<Operation*> slice, Value iv, Value runs) {
    Location loc = load.getLoc();
    IRMapping map = c.map;
    map.map(loop.getInductionVar(), iv);
    for (Operation* op : slice) c.b.clone(*op, map);
    auto type = cast<RankedTensorType>(load.getType());
    Value mask = SplatOp::create(c.b, loc, RankedTensorType::get(type.getShape(), c.b.getI1Type()), runs);
    if (load.getMask()) mask = arith::AndIOp::create(c.b, loc, map.lookupOrDefault(load.getMask()), mask);
    Value other = load.getOther() ? map.lookupOrDefault(load.getOther()) : Value();
    auto made =
        LoadOp::create(c.b, loc, type, map.lookupOrDefault(load.getBase()), map.lookupOrDefault(load.getOffsets()), mask, other);
    made->setDiscardableAttrs(load->getDiscardableAttrDictionary());
    return made;
  }

  void cloneLoop(Cloner& c, scf::ForOp loop, scf::ForOp outer) {
    Location loc = loop.getLoc();
    SmallVector<int> kept;
    SmallVector<Value> init;
    for (int i = 0; i < static_cast<int>(loop.getNumRegionIterArgs()); i++)
      if (needs(c.role, loop.getRegionIterArg(i)) &&
          (ownerOf(loop.getRegionIterArg(i)) == kFree || ownerOf(loop.getRegionIterArg(i)) == c.role)) {
        kept.push_back(i);
        init.push_back(c.map.lookupOrDefault(loop.getInits()[i]));
      }
    // Groups take iterations in turn, each from its own on.
    const int groups = roles_[c.role].groups;
    Value group = groups > 1 ? GroupIdOp::create(c.b, loc, c.b.getI32Type()).getResult() : i32(c.b, loc, 0);
    if (groups > 1 && !kept.empty())
      fail(unsupported(loop, fmt::format("role {} has groups and carries values through a loop", roles_[c.role].name),
                       "use one group"));
    SmallVector<ChannelPlan*> mine;
    for (ChannelPlan& ch : channels_)
      if (ch.loop == loop && (ch.writer == c.role || ch.readers.contains(c.role))) {
        mine.push_back(&ch);
        init.push_back(group);
        // A writer's first round finds every slot empty: it waits for the phase before the first.
        init.push_back(i32(c.b, loc, ch.writer == c.role ? 1 : 0));
      }
    Value lower = c.map.lookupOrDefault(loop.getLowerBound()), upper = c.map.lookupOrDefault(loop.getUpperBound()),
          step = c.map.lookupOrDefault(loop.getStep());
    if (groups > 1) {
      lower = arith::AddIOp::create(c.b, loc, lower, arith::MulIOp::create(c.b, loc, group, step));
      step = arith::MulIOp::create(c.b, loc, step, i32(c.b, loc, groups));
    }
    // The role that gathers reads its indices an iteration ahead, so that their latency passes while it waits for an empty slot.
    SmallVector<std::pair<LoadOp, SmallVector<Operation*>>> ahead;
    if (c.role == kLoad)
      for (LoadOp load : loop.getBody()->getOps<LoadOp>())
        if (needed_ops_[c.role].contains(load))
          if (auto slice = invariantSlice(loop, load)) ahead.push_back({load, *slice});
    const size_t first_ahead = init.size();
    for (auto& [load, slice] : ahead) {
      Value runs = arith::CmpIOp::create(c.b, loc, arith::CmpIPredicate::slt, lower, upper);
      init.push_back(loadAt(c, loop, load, slice, lower, runs));
    }
    auto clone = scf::ForOp::create(c.b, loc, lower, upper, step, init);
    clone->setAttrs(loop->getAttrs());
    c.map.map(loop.getInductionVar(), clone.getInductionVar());
    for (auto [k, i] : llvm::enumerate(kept)) c.map.map(loop.getRegionIterArg(i), clone.getRegionIterArg(k));
    for (auto [k, ch] : llvm::enumerate(mine))
      c.position[ch] = {clone.getRegionIterArg(kept.size() + 2 * k), clone.getRegionIterArg(kept.size() + 2 * k + 1)};

    auto after = c.b.saveInsertionPoint();
    if (init.empty())
      c.b.setInsertionPoint(clone.getBody()->getTerminator());
    else
      c.b.setInsertionPointToEnd(clone.getBody());
    SmallVector<Value> next_loads;
    for (auto [k, load] : llvm::enumerate(ahead)) {
      c.map.map(load.first.getResult(), clone.getRegionIterArg(first_ahead + k));
      Value iv = arith::AddIOp::create(c.b, loc, clone.getInductionVar(), step);
      Value runs = arith::CmpIOp::create(c.b, loc, arith::CmpIPredicate::slt, iv, upper);
      next_loads.push_back(loadAt(c, loop, load.first, load.second, iv, runs));
      loaded_ahead_.insert(load.first);
    }
    for (ChannelPlan* ch : mine)
      if (ch->writer == c.role)
        for (int i : kept) sendResults(c, loop.getRegionIterArg(i), loop, loc);
    cloneBlock(c, *loop.getBody(), loop);
    SmallVector<Value> yields;
    for (int i : kept) yields.push_back(c.map.lookupOrDefault(loop.getYieldedValues()[i]));
    for (ChannelPlan* ch : mine) {
      Position p = next(c.b, loc, c.position[ch], groups, ch->depth);
      yields.push_back(p.slot);
      yields.push_back(p.phase);
      c.open.erase(ch);
    }
    llvm::append_range(yields, next_loads);
    if (!init.empty()) scf::YieldOp::create(c.b, loc, yields);
    c.b.restoreInsertionPoint(after);
    for (auto [k, i] : llvm::enumerate(kept)) c.map.map(loop.getResult(i), clone.getResult(k));
    SmallVector<Value> results;
    for (int i : kept) results.push_back(loop.getResult(i));
    sendResults(c, results, outer, loc);
  }

  void build() {
    Block& body = func_.getBody().front();
    SmallVector<Operation*> old;
    for (Operation& op : body.without_terminator()) old.push_back(&op);
    OpBuilder b(body.getTerminator());
    Location loc = func_.getLoc();
    for (ChannelPlan& ch : channels_) {
      SmallVector<Type> payload;
      for (Value v : ch.payload) payload.push_back(v.getType());
      SmallVector<Attribute> readers;
      for (int r : ch.readers) readers.push_back(b.getStringAttr(roles_[r].name));
      ch.channel = ChannelOp::create(b, loc, ChannelType::get(b.getContext(), ch.depth, payload), roles_[ch.writer].name,
                                     b.getArrayAttr(readers));
    }
    SmallVector<StringRef> names;
    SmallVector<int32_t> warps, groups, registers;
    for (const RoleInfo& r : roles_) {
      groups.push_back(r.groups);
      names.push_back(r.name);
      warps.push_back(r.warps);
      registers.push_back(r.registers);
    }
    auto op = WarpsOp::create(b, loc, b.getStrArrayAttr(names), b.getDenseI32ArrayAttr(warps), b.getDenseI32ArrayAttr(groups),
                              b.getDenseI32ArrayAttr(registers), roles_.size());
    for (auto [r, region] : llvm::enumerate(op.getRoles())) {
      Block& block = region.emplaceBlock();
      Cloner c(static_cast<int>(r), OpBuilder::atBlockEnd(&block));
      cloneBlock(c, body, nullptr);
    }
    for (Operation* dead : llvm::reverse(old)) {
      dead->dropAllUses();
      dead->erase();
    }
  }

  void fail(Diag d) {
    if (status_.ok()) status_ = std::move(d);
  }

  func::FuncOp func_;
  Status status_;
  std::vector<RoleInfo> roles_;
  DenseMap<Value, int> owner_;
  llvm::SmallSet<int, 4> with_dots_;  // roles
  DenseSet<Operation*> address_slice_, sent_, private_gathers_, loaded_ahead_;
  std::vector<DenseSet<void*>> needed_;
  std::vector<DenseSet<Operation*>> needed_ops_;
  std::list<ChannelPlan> channels_;
};

}  // namespace

Status partitionRoles(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    auto attr = func->getAttrOfType<ArrayAttr>(kRolesAttr);
    bool gathers = false;
    func.walk([&](GatherRowsOp g) { gathers |= enclosingLoop(g) != nullptr; });
    if (!attr || attr.empty() || !gathers) {
      func.walk([](StagedOp op) {
        op.getResult().replaceAllUsesWith(op.getValue());
        op.erase();
      });
      continue;
    }
    std::vector<RoleInfo> roles;
    for (auto role : attr.getAsRange<DictionaryAttr>()) {
      const auto number = [&](const char* key) { return static_cast<int>(role.getAs<IntegerAttr>(key).getInt()); };
      roles.push_back({role.getAs<StringAttr>("name").str(), number("warps"), number("groups"), number("registers")});
    }
    if (roles.size() < 2 || roles[0].name != "load")
      return Diag{Code::kUnsupported, "the first role is not load", "schedule",
                  "list role load first, then the roles that compute"};
    NEREID_CHECK_OK(Partition(func, roles).run());
  }
  return {};
}

}  // namespace nereid::tile
