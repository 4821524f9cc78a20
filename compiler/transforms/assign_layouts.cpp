// Demand-driven layout assignment, one region (role or whole kernel) at a time.
#include "compiler/transforms/assign_layouts.h"

#include <fmt/format.h>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "compiler/dialect/tile_dialect.h"
#include "compiler/transforms/apply_schedule.h"
#include "compiler/transforms/axis_info.h"

namespace nereid::tile {
namespace {
using namespace mlir;
using layout::FragmentOrder;
using layout::Layout;

RankedTensorType tensorType(Value v) { return dyn_cast<RankedTensorType>(v.getType()); }

bool isTensor(Value v) { return isa<RankedTensorType>(v.getType()); }

bool isElementwise(Operation* op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op);
}

bool isZero(Value v) { return matchPattern(v, m_AnyZeroFloat()) || matchPattern(v, m_Zero()); }

std::vector<int32_t> shapeOf(RankedTensorType t) { return {t.getShape().begin(), t.getShape().end()}; }

class Assigner {
 public:
  explicit Assigner(int warps) : warp_bits_(llvm::Log2_32(warps)) {}

  Status run(Block& block) {
    process(block);
    eraseOld(block);
    return status_;
  }

 private:
  void fail(Operation* op, std::string what, std::string fix) {
    if (!status_.ok()) return;
    std::string where;
    llvm::raw_string_ostream(where) << op->getLoc();
    status_ = Diag{Code::kUnsupported, std::move(what), where, std::move(fix)};
  }

  // Where the sum of partial values goes: rows to warps, so that what follows is computed once in the block and a row's reduction
  // stays in a warp.
  Layout joined(const Layout& l) const { return l.partial ? rowsOverWarps(l.shape()) : l; }
  Layout rowsOverWarps(const std::vector<int32_t>& shape) const { return layout::blocked(shape, 4, warp_bits_); }

  // The encoding of a layout. Whether a value is a partial sum is known here only; in the IR the joining convert_layout says so.
  Attribute attr(Operation* op, const Layout& l) { return LayoutAttr::of(op->getContext(), layout::summed(l)); }
  Attribute keyOf(Operation* op, const Layout& l) { return LayoutAttr::of(op->getContext(), l); }

  // --- what layout a value has by itself

  static layout::Coord gridOf(DotOp dot) {
    auto g = dot->getAttrOfType<DenseI32ArrayAttr>(kGridAttr).asArrayRef();
    return {g.begin(), g.end()};
  }
  static Grid grid(DotOp dot) {
    auto g = gridOf(dot);
    return {g[0], g[1], g[2]};
  }

  // How B's bytes lie in shared memory decides the order of fragments.
  FragmentOrder orderOf(DotOp dot) {
    FragmentOrder order = orderInMemory(dot);
    order.bytes = elementBytes(tensorType(dot.getA()).getElementType());
    return order;
  }
  FragmentOrder orderInMemory(DotOp dot) {
    Value v = dot.getB();
    bool transposed = false;
    while (Operation* op = v.getDefiningOp()) {
      if (isa<TransOp>(op)) {
        transposed = !transposed;
        v = op->getOperand(0);
      } else if (auto view = dyn_cast<ViewOp>(op)) {
        if (elementBytes(tensorType(view.getResult()).getElementType()) != 1 || !comesFromShared(view.getValue())) return {};
        return transposed ? FragmentOrder{4, 1} : FragmentOrder{2, 2};
      } else if (isElementwise(op)) {
        Value next;
        for (Value operand : op->getOperands())
          if (isTensor(operand) && !operand.getDefiningOp<BroadcastOp>() && !operand.getDefiningOp<SplatOp>() &&
              !operand.getDefiningOp<arith::ConstantOp>())
            next = operand;
        if (!next) return {};
        v = next;
      } else {
        return {};
      }
    }
    return {};
  }

  static bool comesFromShared(Value v) {
    while (auto view = v.getDefiningOp<ViewOp>()) v = view.getValue();
    return v.getDefiningOp<WaitOp>() != nullptr;
  }

  Layout accumulatorOf(DotOp dot) {
    auto t = tensorType(dot.getResult());
    const Grid g = grid(dot);
    return layout::accumulator(t.getDimSize(0), t.getDimSize(1), g, orderOf(dot), warp_bits_, g.k > 1);
  }

  // The layout of a value that depends on a dot, a reduction or a carried value; none for values that can be computed in any.
  std::optional<Layout> natural(Value v) {
    if (!isTensor(v)) return std::nullopt;
    if (auto l = layoutOf(v.getType())) {
      l->partial = partial_results_.lookup(v);
      return l;
    }
    if (auto known = natural_.find(v); known != natural_.end()) return known->second;
    if (!visiting_.insert(v).second) return std::nullopt;
    auto l = naturalOf(v);
    visiting_.erase(v);
    if (visiting_.empty()) natural_[v] = l;  // inside a cycle the answer is not the last one
    return l;
  }

  std::optional<Layout> naturalOf(Value v) {
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
      return loop ? carriedLayout(loop, arg.getArgNumber() - 1) : std::nullopt;
    }
    Operation* op = v.getDefiningOp();
    if (auto dot = dyn_cast<DotOp>(op)) return accumulatorOf(dot);
    if (auto wait = dyn_cast<WaitOp>(op))
      return addendsOf(wait.getChannel(), cast<OpResult>(v).getResultNumber())
                 ? std::optional(rowsOverWarps(shapeOf(tensorType(v))))
                 : std::nullopt;
    if (auto loop = dyn_cast<scf::ForOp>(op)) return carriedLayout(loop, cast<OpResult>(v).getResultNumber());
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      const unsigned i = cast<OpResult>(v).getResultNumber();
      auto l = natural(branch.thenYield().getOperand(i));
      if (!l || (l->partial && natural(branch.elseYield().getOperand(i)) == l)) return l;
      return joined(*l);
    }
    if (auto red = dyn_cast<ReduceOp>(op)) {
      auto l = reduceOperandLayout(red);
      return l ? std::optional(layout::sliceOf(*l, red.getDim())) : std::nullopt;
    }
    if (auto trans = dyn_cast<TransOp>(op)) {
      auto l = natural(trans.getValue());
      return l ? std::optional(layout::transposed(*l)) : std::nullopt;
    }
    if (isElementwise(op)) {
      std::optional<Layout> first;
      int partial = 0, whole = 0;
      for (Value operand : op->getOperands()) {
        if (!isTensor(operand)) continue;
        auto l = natural(operand);
        if (l && !first) first = l;
        if (l && l->partial)
          partial++, first = l;
        else if (!isZero(operand) && !visiting_.contains(operand))  // a carried value under way is what it is added to
          whole++;
      }
      if (!first) return std::nullopt;
      // A product stays a partial sum if it is then added to another; otherwise it waits for the sum, which is fewer values.
      const bool summed_later = llvm::any_of(
          op->getUsers(), [](Operation* user) { return isa<arith::AddFOp, arith::SubFOp, DotOp, scf::YieldOp>(user); });
      const bool linear =
          (isa<arith::AddFOp, arith::SubFOp>(op) && whole == 0) || (isa<arith::MulFOp>(op) && partial == 1 && summed_later);
      return linear ? first : joined(*first);
    }
    return std::nullopt;  // constants, ranges, splats, loads, broadcasts, views
  }

  std::optional<Layout> carriedLayout(scf::ForOp loop, int i) {
    auto l = natural(loop.getYieldedValues()[i]);
    if (!l) l = natural(loop.getInits()[i]);
    // A sum over iterations stays partial and is joined once, after the loop.
    return !l || l->partial ? l : std::optional(joined(*l));
  }

  // A matrix load somewhere in the free computation of v.
  LoadOp matrixLoad(Value v) {
    Operation* op = v.getDefiningOp();
    if (!op || !isTensor(v)) return {};
    if (auto load = dyn_cast<LoadOp>(op)) return tensorType(v).getRank() == 2 ? load : LoadOp();
    if (!isElementwise(op) && !isa<TransOp>(op)) return {};
    for (Value operand : op->getOperands())
      if (LoadOp load = matrixLoad(operand)) return load;
    return {};
  }

  int vectorOf(Value offsets, Value mask, Type element, Operation* access, Value base) {
    if (auto align = access->getAttrOfType<IntegerAttr>(kRowAlignAttr)) {
      // Rows: contiguous by construction, aligned as the attribute says.
      int bytes = std::min<int>({static_cast<int>(align.getInt()), 16,
                                 static_cast<int>(tensorType(offsets).getShape().back()) * elementBytes(element)});
      return tensorType(offsets).getRank() == 2 ? std::max(1, bytes / elementBytes(element)) : 1;
    }
    return axis_.vectorWidth(offsets, mask, elementBytes(element), baseAlignment(base));
  }

  // Where a free tile is stored or reduced, a coalesced layout of the widest accesses.
  Layout coalesced(Value v) {
    auto t = tensorType(v);
    int vector = 1;
    if (LoadOp load = matrixLoad(v))
      vector = vectorOf(load.getOffsets(), load.getMask(), tensorType(load.getResult()).getElementType(), load, load.getBase());
    return layout::blocked(shapeOf(t), vector, warp_bits_);
  }

  std::optional<Layout> reduceOperandLayout(ReduceOp red) {
    if (auto l = natural(red.getValue())) return joined(*l);
    if (matrixLoad(red.getValue()) || tensorType(red.getValue()).getRank() == 1) return coalesced(red.getValue());
    return std::nullopt;
  }

  // --- making values in a layout

  // The op before which code for `user` that depends on v only goes: user itself, or its ancestor in v's block.
  static Operation* placeFor(Value v, Operation* user) {
    Block* block = v.getParentBlock();
    Operation* op = user;
    while (op->getBlock() != block) {
      Operation* parent = op->getParentOp();
      if (!parent || isa<func::FuncOp, WarpsOp>(parent)) return user->getBlock() == block ? user : op;
      op = parent;
    }
    return op;
  }

  Value demand(Value v, const Layout& l, Operation* user) {
    if (!isTensor(v)) return v;
    Operation* place = placeFor(v, user);
    // A vector is read where the program reads it, so that what stands behind covers the latency.
    if (auto load = v.getDefiningOp<LoadOp>(); load && tensorType(v).getRank() == 1 && load->getBlock() == place->getBlock())
      place = load;
    Attribute key = keyOf(user, l);
    if (partial_results_.lookup(v) == l.partial && v.getType() == withEncoding(tensorType(v), attr(user, l))) return v;
    auto& made = made_[{v, key}];
    for (Value m : made)
      if (m.getParentBlock() == place->getBlock() && (isa<BlockArgument>(m) || m.getDefiningOp()->isBeforeInBlock(place)))
        return m;
    Value m = make(v, l, place);
    made_[{v, key}].push_back(m);
    return m;
  }

  // The same elements in the same lanes and warps, registers in another order.
  static bool reordered(const Layout& a, const Layout& b) {
    return a.lane == b.lane && a.warp == b.warp && a.partial == b.partial && a.reg.size() == b.reg.size() &&
           std::is_permutation(a.reg.begin(), a.reg.end(), b.reg.begin());
  }

  // Whether v depends on a value that has a layout of its own.
  bool dependsOnLaidOut(Value v) {
    if (!isTensor(v)) return false;
    if (natural(v)) return true;
    Operation* op = v.getDefiningOp();
    return op && !isa<LoadOp, ViewOp>(op) && llvm::any_of(op->getOperands(), [&](Value x) { return dependsOnLaidOut(x); });
  }

  // Whether an elementwise op is done in the layout that is asked for, and its operand converted, instead of its result: where
  // only registers change places; and where just one operand has a layout of its own and is as narrow as the result, because
  // other uses may then share its conversion.
  bool computedInTarget(Value v, const Layout& own, const Layout& l) {
    Operation* op = v.getDefiningOp();
    if (!op || !isElementwise(op)) return false;
    if (reordered(own, l)) return true;
    if (own.partial || l.partial) return false;
    Value only;
    for (Value operand : op->getOperands()) {
      if (!dependsOnLaidOut(operand)) continue;
      if (only || !natural(operand)) return false;
      only = operand;
    }
    return only && tensorType(only).getElementTypeBitWidth() <= tensorType(v).getElementTypeBitWidth() && isFloatPacked(v);
  }
  static bool isFloatPacked(Value v) { return tensorType(v).getElementTypeBitWidth() == 16; }

  // Registers ordered so that neighbours along the last dimension come first: what stores want.
  static Layout byColumn(Layout l) {
    std::stable_sort(l.reg.begin(), l.reg.end(), [](const layout::Coord& a, const layout::Coord& b) {
      const bool row_a = a.size() == 2 && a[0], row_b = b.size() == 2 && b[0];
      return row_a != row_b ? row_b : !row_a && a.back() < b.back();
    });
    return l;
  }

  Value make(Value v, const Layout& l, Operation* place) {
    // A layout has a power of two of places; one that is larger than the tile would store beyond it.
    if (const auto t = tensorType(v); l.shape() != shapeOf(t)) {
      std::string shape;
      llvm::raw_string_ostream(shape) << t;
      Operation* op = v.getDefiningOp();
      return fail(op ? op : place, "a tile " + shape + " has a dimension that is no power of two",
                  "use powers of two and a mask"),
             v;
    }
    OpBuilder b(place);
    auto type = withEncoding(tensorType(v), attr(place, l));
    Location loc = v.getLoc();
    auto own = natural(v);
    if (own && computedInTarget(v, *own, l)) own = l;
    // A value with a layout of its own is converted as a whole, at its narrowest. One without, that is to be a partial sum, must
    // not be made in every copy.
    if (own ? *own != l : l.partial && !isZero(v)) {
      // Addends stay addends where only registers change places. Between other layouts they pass as their sum, counted once.
      const bool same = own && own->partial == l.partial && (!l.partial || (own->lane == l.lane && own->warp == l.warp));
      const bool spreads = l.partial && !same;
      Value whole = demand(v, spreads ? layout::summed(l) : *own, place);
      if (same) return convert(b, loc, whole, type);
      auto converted = ConvertLayoutOp::create(b, loc, type, whole);
      converted->setAttr(spreads ? kSpreadAttr : kSumAttr,
                         b.getI32IntegerAttr(static_cast<int32_t>(spreads ? l.partial : own->partial)));
      return converted;
    }
    // Carried values and results that have their encoding, and payload tiles themselves.
    if (layoutOf(v.getType()) || isShared(v.getType())) return convert(b, loc, v, type);
    Operation* op = v.getDefiningOp();
    if (!op) return fail(place, "a tile argument has no layout", "report this program"), v;
    if (auto c = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = dyn_cast<SplatElementsAttr>(c.getValue());
      if (!splat) return fail(op, "a constant tile with different elements", "compute it from range()"), v;
      return arith::ConstantOp::create(b, loc, type, SplatElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    }
    if (auto dot = dyn_cast<DotOp>(op)) {
      const FragmentOrder order = orderOf(dot);
      const Grid g = grid(dot);
      auto ta = tensorType(dot.getA()), tb = tensorType(dot.getB());
      Value c = demand(dot.getC(), l, place);
      Value x = demand(dot.getA(), layout::operandA(ta.getDimSize(0), ta.getDimSize(1), g, order, warp_bits_), place);
      Value y = demand(dot.getB(), layout::operandB(tb.getDimSize(0), tb.getDimSize(1), g, order, warp_bits_), place);
      b.setInsertionPoint(place);
      auto made = DotOp::create(b, loc, type, dot.getLabelAttr(), x, y, c);
      made->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
      return made;
    }
    if (isa<ViewOp>(op) || (isa<TransOp>(op) && comesFromSharedChain(v))) {
      if (Value shared = sharedOf(v, place)) {
        b.setInsertionPoint(place);
        return convert(b, loc, shared, type);
      }
      return fail(op, "bytes are viewed that are neither gathered nor in shared memory", "take views of gatherRows()"), v;
    }
    IRMapping map;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (isTensor(operand)) map.map(operand, demand(operand, operandLayout(op, i, l), place));
    b.setInsertionPoint(place);
    Operation* made = b.clone(*op, map);
    Value result = made->getResult(cast<OpResult>(v).getResultNumber());
    result.setType(type);
    return result;
  }

  Layout operandLayout(Operation* op, int i, const Layout& l) {
    Value operand = op->getOperand(i);
    if (auto bc = dyn_cast<BroadcastOp>(op)) return layout::sliceOf(l, 1 - bc.getDim());
    if (isa<TransOp>(op)) return layout::transposed(l);
    if (auto red = dyn_cast<ReduceOp>(op)) {
      if (auto own = reduceOperandLayout(red)) return *own;
      return layout::inflate(l, red.getDim(), tensorType(operand).getDimSize(red.getDim()));
    }
    if (l.partial && isa<arith::MulFOp>(op)) {
      auto own = natural(operand);
      if (!own || !own->partial) return layout::summed(l);
    }
    return l;
  }

  static bool comesFromSharedChain(Value v) {
    while (Operation* op = v.getDefiningOp()) {
      if (isa<WaitOp>(op)) return true;
      if (!isa<TransOp, ViewOp>(op)) return false;
      v = op->getOperand(0);
    }
    return false;
  }

  // v as a view of shared memory, if it is a chain of views of a channel's payload.
  Value sharedOf(Value v, Operation* place) {
    if (isShared(v.getType())) return v;
    Operation* op = v.getDefiningOp();
    if (!op || !isa<TransOp, ViewOp>(op)) return {};
    Value inner = sharedOf(op->getOperand(0), place);
    if (!inner) return {};
    auto from = cast<SharedAttr>(tensorType(inner).getEncoding());
    auto to = SharedAttr::get(op->getContext(), from.getPitch(), from.getColumnMajor() != isa<TransOp>(op));
    Operation* at = placeFor(v, place);
    auto& made = made_[{v, to}];
    for (Value m : made)
      if (m.getParentBlock() == at->getBlock() && m.getDefiningOp()->isBeforeInBlock(at)) return m;
    OpBuilder b(at);
    IRMapping map;
    map.map(op->getOperand(0), inner);
    Value out = b.clone(*op, map)->getResult(0);
    out.setType(withEncoding(tensorType(v), to));
    made.push_back(out);
    return out;
  }

  static Value convert(OpBuilder& b, Location loc, Value v, RankedTensorType type) {
    if (v.getType() == type) return v;
    return ConvertLayoutOp::create(b, loc, type, v);
  }

  // --- walking

  void process(Block& block) {
    SmallVector<Operation*> ops;
    for (Operation& op : block) ops.push_back(&op);
    for (Operation* op : ops) {
      if (!status_.ok()) return;
      processOp(op);
    }
  }

  // Replaces a tile operand of an op that stays.
  void setOperand(Operation* op, int i, const Layout& l) {
    Value v = op->getOperand(i);
    if (isTensor(v)) op->setOperand(i, demand(v, l, op));
  }

  void processOp(Operation* op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) return processLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op)) return processIf(branch);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      for (auto [i, v] : llvm::enumerate(wait.getPayload())) {
        auto t = tensorType(v);
        const int pitch = addendsOf(wait.getChannel(), static_cast<int>(i)) ? addendPitch(t) : sharedPitch(t);
        v.setType(withEncoding(t, SharedAttr::get(op->getContext(), pitch, false)));
      }
      return;
    }
    if (auto store = dyn_cast<StoreOp>(op)) {
      auto l = natural(store.getValue());
      if (l) l = byColumn(joined(*l));
      if (!l) {
        int vector =
            vectorOf(store.getOffsets(), store.getMask(), tensorType(store.getValue()).getElementType(), op, store.getBase());
        if (LoadOp load = matrixLoad(store.getValue()))
          vector = std::min(vector, vectorOf(load.getOffsets(), load.getMask(), tensorType(load.getResult()).getElementType(),
                                             load, load.getBase()));
        l = layout::blocked(shapeOf(tensorType(store.getValue())), vector, warp_bits_);
      }
      for (size_t i = 0; i < op->getNumOperands(); i++) setOperand(op, i, *l);
      return;
    }
    if (auto put = dyn_cast<PutOp>(op)) {
      auto l = natural(put.getValue());
      // Addends are stored side by side; whoever reads them sums.
      if (l && l->partial) op->setAttr(kSumAttr, IntegerAttr::get(IntegerType::get(op->getContext(), 32), l->partial));
      const Layout chosen = l ? *l : rowsLayout(tensorType(put.getValue()));
      return setOperand(op, op->getNumOperands() - 1, chosen);
    }
    if (auto copy = dyn_cast<CopyRowsOp>(op)) {
      const Layout rows = rowsLayout(tensorType(copy.getOffsets()));
      for (size_t i = 0; i < op->getNumOperands(); i++) setOperand(op, i, rows);
      return;
    }
    if (auto red = dyn_cast<ReduceOp>(op); red && !isTensor(red.getResult())) {
      auto l = natural(red.getValue());
      return setOperand(op, 0, l ? joined(*l) : layout::blocked(shapeOf(tensorType(red.getValue())), 1, 0));
    }
    // Values with a layout of their own are made where they stand; the rest where they are used.
    for (Value r : op->getResults())
      if (auto l = natural(r)) demand(r, *l, op->getNextNode());
  }

  // Row addressing in a role that copies: as many lanes a row as there are to spare, then one row a lane.
  Layout rowsLayout(RankedTensorType t) {
    const int rows = t.getDimSize(0);
    Layout l{.rank = static_cast<int>(t.getRank())};
    if (t.getRank() == 2) return layout::blocked(shapeOf(t), 1, warp_bits_);
    const int warps = 1 << warp_bits_;
    const int rows_a_warp = std::max(1, rows / warps);
    int step = 1;
    const int lane_rows = std::min(32, rows_a_warp);
    for (int lanes = lane_rows; lanes < 32; lanes *= 2) l.lane.push_back({0});
    for (int i = 1; i < lane_rows; i *= 2, step *= 2) l.lane.push_back({step});
    for (int w = 1; w < warps; w *= 2) {
      l.warp.push_back({step < rows ? step : 0});
      if (step < rows) step *= 2;
    }
    for (; step < rows; step *= 2) l.reg.push_back({step});
    return l;
  }

  void processLoop(scf::ForOp loop) {
    // Layouts of carried values first, from what the untouched body yields.
    SmallVector<std::optional<Layout>> layouts;
    for (int i = 0; i < static_cast<int>(loop.getNumRegionIterArgs()); i++) {
      std::optional<Layout> l;
      if (auto t = tensorType(loop.getRegionIterArg(i))) {
        l = natural(loop.getRegionIterArg(i));
        if (!l) l = t.getRank() == 1 ? rowsLayout(t) : coalesced(loop.getYieldedValues()[i]);
      }
      layouts.push_back(l);
    }
    for (auto [i, l] : llvm::enumerate(layouts)) {
      if (!l) continue;
      auto type = withEncoding(tensorType(loop.getRegionIterArg(i)), attr(loop, *l));
      Value init = demand(loop.getInits()[i], *l, loop);
      loop.getInitsMutable()[i].set(init);
      loop.getRegionIterArg(i).setType(type);
      loop.getResult(i).setType(type);
      if (l->partial) partial_results_[loop.getRegionIterArg(i)] = partial_results_[loop.getResult(i)] = l->partial;
    }
    process(*loop.getBody());
    Operation* yield = loop.getBody()->getTerminator();
    for (auto [i, l] : llvm::enumerate(layouts))
      if (l && status_.ok()) setOperand(yield, i, *l);
  }

  void processIf(scf::IfOp branch) {
    SmallVector<std::optional<Layout>> layouts;
    for (Value r : branch.getResults()) {
      std::optional<Layout> l;
      if (auto t = tensorType(r)) {
        l = natural(r);
        if (!l)
          l = t.getRank() == 1 ? layout::blocked(shapeOf(t), 1, warp_bits_)
                               : coalesced(branch.thenYield().getOperand(cast<OpResult>(r).getResultNumber()));
      }
      layouts.push_back(l);
    }
    for (auto [i, l] : llvm::enumerate(layouts))
      if (l) {
        branch.getResult(i).setType(withEncoding(tensorType(branch.getResult(i)), attr(branch, *l)));
        if (l->partial) partial_results_[branch.getResult(i)] = l->partial;
      }
    for (Region& region : branch->getRegions()) {
      if (region.empty()) continue;
      process(region.front());
      for (auto [i, l] : llvm::enumerate(layouts))
        if (l && status_.ok()) setOperand(region.front().getTerminator(), i, *l);
    }
  }

  // Old ops have results without an encoding; by now nothing that stays uses them.
  void eraseOld(Block& block) {
    if (!status_.ok()) return;
    SmallVector<Operation*> old;
    block.walk([&](Operation* op) {
      const bool tiles = llvm::any_of(op->getResults(), [](Value v) { return isTensor(v) && !tensorType(v).getEncoding(); });
      if (tiles && !isa<scf::ForOp, scf::IfOp>(op)) old.push_back(op);
    });
    for (Operation* op : old) op->dropAllReferences();
    for (Operation* op : old)
      for (Value r : op->getResults()) r.dropAllUses();
    for (Operation* op : old) op->erase();
  }

  int warp_bits_;
  AxisAnalysis axis_;
  Status status_;
  llvm::DenseSet<Value> visiting_;
  llvm::DenseMap<Value, std::optional<Layout>> natural_;
  llvm::DenseMap<Value, uint32_t> partial_results_;  // of scf.if and scf.for: which their encoding does not say
  llvm::DenseMap<std::pair<Value, Attribute>, SmallVector<Value>> made_;
};

}  // namespace

int sharedPitch(RankedTensorType type) {
  if (type.getRank() == 1) return elementBytes(type.getElementType());
  const int bytes = static_cast<int>(type.getDimSize(1)) * elementBytes(type.getElementType());
  if (bytes < 32) return llvm::PowerOf2Ceil(bytes);
  const int units = (bytes + 15) / 16;
  return (units | 1) * 16;
}

int addendPitch(RankedTensorType type) {
  constexpr int kBanksBytes = 128, kStep = 32;
  const int bytes = static_cast<int>(type.getDimSize(1)) * 4;
  return bytes < kBanksBytes ? bytes : (bytes + kBanksBytes - 1) / kBanksBytes * kBanksBytes + kStep;
}

uint32_t addendsOf(Value channel, int payload) {
  for (Operation* user : channel.getUsers())
    if (auto put = dyn_cast<PutOp>(user); put && static_cast<int>(put.getPayload()) == payload)
      if (auto sum = put->getAttrOfType<IntegerAttr>(kSumAttr)) return static_cast<uint32_t>(sum.getInt());
  return 0;
}

// Payload is read where a layout asks for it, which may be after the release that follows the op in the program: the release
// goes behind the last read.
static void sinkReleases(Block& role) {
  role.walk([](WaitOp wait) {
    Block* block = wait->getBlock();
    Operation* last = wait;
    SmallVector<Value> tiles(wait.getPayload());
    while (!tiles.empty()) {
      for (Operation* user : tiles.pop_back_val().getUsers()) {
        if (isa<ViewOp, TransOp>(user)) tiles.push_back(user->getResult(0));
        if (Operation* here = block->findAncestorOpInBlock(*user); here && last->isBeforeInBlock(here)) last = here;
      }
    }
    for (Operation* op = wait->getNextNode(); op; op = op->getNextNode()) {
      auto release = dyn_cast<ReleaseOp>(op);
      if (!release || release.getChannel() != wait.getChannel()) continue;
      if (op->isBeforeInBlock(last)) op->moveAfter(last);
      return;
    }
  });
}

Status assignLayouts(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttr(kKernelAttr)) continue;
    WarpsOp warps;
    for (auto op : func.getBody().getOps<WarpsOp>()) warps = op;
    if (!warps) {
      NEREID_CHECK_OK(Assigner(func->getAttrOfType<IntegerAttr>(kWarpsAttr).getInt()).run(func.getBody().front()));
      continue;
    }
    for (auto [i, region] : llvm::enumerate(warps.getRoles())) {
      NEREID_CHECK_OK(Assigner(warps.getWarps()[i] / warps.getGroups()[i]).run(region.front()));
      sinkReleases(region.front());
    }
    // Constants that simplification moved above the roles; each role has made its own.
    for (Operation& op : llvm::make_early_inc_range(func.getBody().front()))
      if (op.use_empty() && llvm::any_of(op.getResultTypes(), [](Type t) { return isa<RankedTensorType>(t); })) op.erase();
  }
  return {};
}

}  // namespace nereid::tile
