// The walk: control flow, roles and dispatch; one entry an op.
#include "compiler/conversion/gpu/lower_kernel.h"

#include <fmt/format.h>

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "compiler/conversion/gpu/lowering.h"
#include "compiler/transforms/apply_schedule.h"
#include "compiler/transforms/guard_unit_rows.h"

namespace nereid::gpu {
using namespace mlir;

namespace {
constexpr const char* kSharedSymbol = "nereid_shared";
constexpr int kSharedAlign = 1024;

bool isTensor(Type t) { return isa<RankedTensorType>(t); }
}  // namespace

Lowering::Lowering(func::FuncOp func, const Target& target) : func_(func), target_(target), b_(func.getContext()), nv_(b_) {}

void Lowering::fail(Operation* op, std::string what, std::string fix) {
  if (!status_.ok()) return;
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  status_ = Diag{Code::kUnsupported, std::move(what), where, std::move(fix)};
}

Status Lowering::run() {
  Location loc = func_.getLoc();
  Block& old = func_.getBody().front();
  tile::WarpsOp warps;
  for (auto op : old.getOps<tile::WarpsOp>()) warps = op;
  int total = static_cast<int>(func_->getAttrOfType<IntegerAttr>(tile::kWarpsAttr).getInt());
  bool budgets = false;
  if (warps) {
    total = 0;
    for (int w : warps.getWarps()) total += w;
    for (int r : warps.getRegisters()) budgets |= r > 0;
    if (budgets) total = (total + 3) / 4 * 4;
  }
  threads_ = total * 32;

  // The new function takes the old one's place at the end; ops are lowered in order into it.
  auto module = func_->getParentOfType<ModuleOp>();
  b_.setInsertionPoint(func_);
  auto lowered = LLVM::LLVMFuncOp::create(
      b_, loc, func_.getName().str() + "_lowered",
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), llvm::to_vector(func_.getArgumentTypes())));
  Block* entry = lowered.addEntryBlock(b_);
  for (auto [a, n] : llvm::zip(old.getArguments(), entry->getArguments())) scalars_.map(a, n);
  if (!module.lookupSymbol(kSharedSymbol)) {  // one name for all kernels of a module
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b_, loc, LLVM::LLVMArrayType::get(b_.getI8Type(), 0), false, LLVM::Linkage::External, kSharedSymbol,
                           Attribute(), kSharedAlign, 3);
  }
  b_.setInsertionPointToStart(entry);
  shared_base_ = LLVM::AddressOfOp::create(b_, loc, LLVM::LLVMPointerType::get(b_.getContext(), 3), kSharedSymbol);
  thread_ = nv_.threadId(loc);
  lane_ = arith::AndIOp::create(b_, loc, thread_, i32(loc, 31));
  // Warp-uniform by construction, so that branches on it are.
  group_ = {total, 0, nv_.broadcastLane0(loc, arith::ShRUIOp::create(b_, loc, thread_, i32(loc, 5)))};
  planChannels();
  initBarriers(loc);
  lowerBlock(old);
  if (!status_.ok()) return status_;
  removeReuseBarriers();
  LLVM::ReturnOp::create(b_, loc, ValueRange());

  markKernel(lowered, threads_, launchRegisters());
  const std::string name = func_.getName().str();
  func_.erase();
  lowered.setName(name);
  return {};
}

// Registers a thread starts with; roles with a budget then give some back or take more.
int Lowering::launchRegisters() { return static_cast<int>(func_->getAttrOfType<IntegerAttr>(tile::kMaxRegistersAttr).getInt()); }

void Lowering::lowerBlock(Block& block) {
  auto body = block.without_terminator();
  for (auto it = body.begin(), end = body.end(); it != end && status_.ok();) {
    if (it->hasAttr(tile::kSkipIfUnitAttr))
      it = lowerGuardedProducts(it, end);
    else
      lowerOp(&*it++);
  }
}

void Lowering::lowerOp(Operation* op) {
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](tile::WarpsOp o) { lowerWarps(o); })
      .Case([&](scf::ForOp o) { lowerFor(o); })
      .Case([&](scf::IfOp o) { lowerIf(o); })
      .Case([&](tile::ChannelOp) {})
      .Case([&](tile::ProgramIdOp o) { scalars_.map(o.getResult(), nv_.blockId(o.getLoc())); })
      .Case([&](tile::GroupIdOp o) { scalars_.map(o.getResult(), group_.index ? group_.index : i32(o.getLoc(), 0)); })
      .Case([&](tile::RangeOp o) { lowerRange(o); })
      .Case([&](tile::BroadcastOp o) { lowerBroadcast(o); })
      .Case([&](tile::SplatOp o) {
        const int registers = layoutOf(o.getResult()).registers();
        Fragment f(registers, scalar(o.getValue()));
        set(o.getResult(), pack(o.getLoc(), f, cast<RankedTensorType>(o.getType()).getElementType()));
      })
      .Case([&](tile::LoadOp o) { lowerLoad(o); })
      .Case([&](tile::StoreOp o) { lowerStore(o); })
      .Case([&](tile::LoadScalarOp o) { lowerLoadScalar(o); })
      .Case([&](tile::TicketOp o) { lowerTicket(o); })
      .Case([&](tile::ViewOp o) { lowerView(o); })
      .Case([&](tile::TransOp o) { lowerTrans(o); })
      .Case([&](tile::ConvertLayoutOp o) { lowerConvert(o); })
      .Case([&](tile::ReduceOp o) { lowerReduce(o); })
      .Case([&](tile::DotOp o) { lowerDot(o); })
      .Case([&](tile::AcquireOp o) { lowerAcquire(o); })
      .Case([&](tile::CopyRowsOp o) { lowerCopyRows(o); })
      .Case([&](tile::PutOp o) { lowerPut(o); })
      .Case([&](tile::CommitOp o) { lowerCommit(o); })
      .Case([&](tile::WaitOp o) { lowerWait(o); })
      .Case([&](tile::ReleaseOp o) { lowerRelease(o); })
      .Default([&](Operation* o) {
        if (isa<arith::ArithDialect, math::MathDialect>(o->getDialect())) {
          if (o->getNumResults() == 1 && isTensor(o->getResult(0).getType()))
            return isa<arith::ConstantOp>(o) ? lowerConstant(o) : lowerElementwise(o);
          if (isa<math::MathDialect>(o->getDialect())) return lowerElementwise(o);
          b_.clone(*o, scalars_);
          return;
        }
        fail(o, fmt::format("no lowering for {}", o->getName().getStringRef().str()), "report this program");
      });
}

void Lowering::lowerFor(Operation* op) {
  auto loop = cast<scf::ForOp>(op);
  Location loc = loop.getLoc();
  SmallVector<Value> init;
  for (Value v : loop.getInits()) {
    if (isTensor(v.getType()))
      llvm::append_range(init, get(v));
    else
      init.push_back(scalar(v));
  }
  auto made =
      scf::ForOp::create(b_, loc, scalar(loop.getLowerBound()), scalar(loop.getUpperBound()), scalar(loop.getStep()), init);
  auto bind = [&](ValueRange from, ValueRange to) {
    size_t next = 0;
    for (Value v : from) {
      if (!isTensor(v.getType())) {
        scalars_.map(v, to[next++]);
        continue;
      }
      const size_t n = fragmentTypes(cast<RankedTensorType>(v.getType())).size();
      set(v, Fragment(to.begin() + next, to.begin() + next + n));
      next += n;
    }
  };
  scalars_.map(loop.getInductionVar(), made.getInductionVar());
  bind(loop.getRegionIterArgs(), made.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(b_);
  if (init.empty())
    b_.setInsertionPoint(made.getBody()->getTerminator());
  else
    b_.setInsertionPointToEnd(made.getBody());
  lowerBlock(*loop.getBody());
  if (!status_.ok()) return;
  if (!init.empty()) {
    SmallVector<Value> yields;
    for (Value v : loop.getYieldedValues()) {
      if (isTensor(v.getType()))
        llvm::append_range(yields, get(v));
      else
        yields.push_back(scalar(v));
    }
    scf::YieldOp::create(b_, loc, yields);
  }
  b_.setInsertionPointAfter(made);
  bind(loop.getResults(), made.getResults());
}

void Lowering::lowerIf(Operation* op) {
  auto branch = cast<scf::IfOp>(op);
  Location loc = branch.getLoc();
  SmallVector<Type> types;
  for (Value r : branch.getResults()) {
    if (auto t = dyn_cast<RankedTensorType>(r.getType()))
      llvm::append_range(types, fragmentTypes(t));
    else
      types.push_back(r.getType());
  }
  const bool has_else = !branch.getElseRegion().empty();
  auto made = scf::IfOp::create(b_, loc, types, scalar(branch.getCondition()), has_else);
  for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
    if (from.empty()) continue;
    OpBuilder::InsertionGuard guard(b_);
    Block& block = to.front();
    if (!block.empty()) block.back().erase();  // the implicit yield
    b_.setInsertionPointToEnd(&block);
    lowerBlock(from.front());
    if (!status_.ok()) return;
    SmallVector<Value> yields;
    for (Value v : from.front().getTerminator()->getOperands()) {
      if (isTensor(v.getType()))
        llvm::append_range(yields, get(v));
      else
        yields.push_back(scalar(v));
    }
    scf::YieldOp::create(b_, loc, yields);
  }
  size_t next = 0;
  for (Value r : branch.getResults()) {
    auto t = dyn_cast<RankedTensorType>(r.getType());
    if (!t) {
      scalars_.map(r, made.getResult(next++));
      continue;
    }
    const size_t n = fragmentTypes(t).size();
    auto results = made.getResults();
    set(r, Fragment(results.begin() + next, results.begin() + next + n));
    next += n;
  }
}

// Roles follow each other in warps, those that compute first: a budget applies to aligned groups of four warps.
void Lowering::lowerWarps(tile::WarpsOp op) {
  Location loc = op.getLoc();
  const WarpGroup block = group_;
  SmallVector<int> order;
  for (int i = 1; i < static_cast<int>(op.getRoles().size()); i++) order.push_back(i);
  order.push_back(0);
  int first = 0, next_barrier = 1;
  const int launch = launchRegisters();
  OpBuilder::InsertionGuard guard(b_);
  for (int role : order) {
    const int warps = op.getWarps()[role];
    Value below = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::ult, block.warp, i32(loc, first + warps));
    auto branch = scf::IfOp::create(b_, loc, below, /*withElseRegion=*/true);
    b_.setInsertionPointToStart(branch.thenBlock());
    Value warp = first ? arith::SubIOp::create(b_, loc, block.warp, i32(loc, first)).getResult() : block.warp;
    group_ = {warps, next_barrier, warp};
    if (const int groups = op.getGroups()[role]; groups > 1) {
      group_.groups = groups;
      group_.warps = warps / groups;
      group_.index = arith::DivUIOp::create(b_, loc, warp, i32(loc, group_.warps));
      group_.warp = arith::RemUIOp::create(b_, loc, warp, i32(loc, group_.warps));
    }
    next_barrier += group_.groups;
    if (int registers = op.getRegisters()[role]; registers && target_.has_setmaxnreg)
      nv_.setMaxRegisters(loc, registers, registers > launch);
    lowerBlock(op.getRoles()[role].front());
    if (!status_.ok()) return;
    b_.setInsertionPointToStart(branch.elseBlock());
    first += warps;
  }
  group_ = block;
}

Result<LaunchShape> lowerKernel(ModuleOp module, const Target& target) {
  LaunchShape shape;
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!func->hasAttr(tile::kKernelAttr)) continue;
    Lowering lowering(func, target);
    NEREID_CHECK_OK(lowering.run());
    shape.threads = lowering.threads();
    shape.shared_bytes = lowering.sharedBytes();
    if (shape.shared_bytes > target.shared_per_block)
      return Diag{Code::kUnsupported,
                  fmt::format("the kernel needs {} bytes of shared memory, {} allows {}", shape.shared_bytes, target.name,
                              target.shared_per_block),
                  "schedule", "use fewer stages or smaller tiles"};
  }
  return shape;
}

}  // namespace nereid::gpu
