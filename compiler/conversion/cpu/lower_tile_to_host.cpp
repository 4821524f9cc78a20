// The walk over a kernel: control flow and dispatch.
#include "compiler/conversion/cpu/lower_tile_to_host.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/conversion/cpu/host_lowering.h"

namespace nereid::cpu {
using namespace mlir;

void HostLowering::fail(Operation* op, std::string what) {
  if (!status_.ok()) return;
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  status_ = Diag{Code::kUnsupported, std::move(what), where, "report this program"};
}

Status HostLowering::run() {
  Location loc = func_.getLoc();
  b_.setInsertionPoint(func_);
  Type pointer = LLVM::LLVMPointerType::get(b_.getContext());
  auto lowered =
      func::FuncOp::create(b_, loc, func_.getName().str() + "_lowered", b_.getFunctionType({pointer, b_.getI64Type()}, {}));
  entry_ = lowered.addEntryBlock();
  b_.setInsertionPointToStart(entry_);
  Value args = entry_->getArgument(0);
  block_ = entry_->getArgument(1);
  for (auto [i, arg] : llvm::enumerate(func_.getArguments())) {
    Value slot = LLVM::GEPOp::create(b_, loc, pointer, b_.getI8Type(), args, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(8 * i)});
    scalars_.map(arg, LLVM::LoadOp::create(b_, loc, arg.getType(), slot, 8u));
  }
  lowerBlock(func_.getBody().front());
  if (!status_.ok()) return status_;
  func::ReturnOp::create(b_, loc);
  const std::string name = func_.getName().str();
  func_.erase();
  lowered.setName(name);
  return {};
}

void HostLowering::lowerBlock(Block& block) {
  for (Operation& op : block.without_terminator()) {
    if (!status_.ok()) return;
    lowerOp(&op);
  }
}

void HostLowering::lowerOp(Operation* op) {
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](scf::ForOp o) { lowerFor(o); })
      .Case([&](scf::IfOp o) { lowerIf(o); })
      .Case([&](tile::ProgramIdOp o) {
        scalars_.map(o.getResult(), arith::TruncIOp::create(b_, o.getLoc(), b_.getI32Type(), block_));
      })
      .Case([&](tile::LoadOp o) { lowerLoad(o); })
      .Case([&](tile::StoreOp o) { lowerStore(o); })
      .Case([&](tile::LoadScalarOp o) {
        Value bytes = arith::MulIOp::create(
            b_, o.getLoc(), toI64(o.getLoc(), scalar(o.getOffset())),
            arith::ConstantOp::create(b_, o.getLoc(), b_.getI64IntegerAttr(tile::elementBytes(o.getType()))));
        scalars_.map(o.getResult(),
                     LLVM::LoadOp::create(b_, o.getLoc(), o.getType(), address(o.getLoc(), o.getBase(), bytes), 1u));
      })
      .Case([&](tile::GatherRowsOp o) { lowerGather(o); })
      .Case([&](tile::ScatterRowsOp o) { lowerScatter(o); })
      .Case([&](tile::ReduceOp o) { lowerReduce(o); })
      .Case([&](tile::DotOp o) { lowerDot(o); })
      .Case([&](tile::TicketOp o) { lowerTicket(o); })
      .Case([&](tile::TransOp o) { lowerTrans(o); })
      .Case([&](tile::ViewOp o) {
        if (!isByteRows(o.getValue())) lowerBytes(o);
      })
      .Default([&](Operation* o) {
        const bool tiles = llvm::any_of(o->getResultTypes(), [](Type t) { return isa<RankedTensorType>(t); });
        if (!tiles) {
          if (!isa<arith::ArithDialect, math::MathDialect>(o->getDialect()))
            return fail(o, "no lowering for " + o->getName().getStringRef().str());
          b_.clone(*o, scalars_);
        } else if (!isInline(o->getResult(0))) {
          materialize(o->getResult(0));
        }
      });
}

void HostLowering::lowerFor(scf::ForOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> init;
  SmallVector<int> scalar_args;
  for (auto [i, v] : llvm::enumerate(op.getInits())) {
    if (auto t = dyn_cast<RankedTensorType>(v.getType())) {
      // A carried tile is one buffer: arguments, and results after the loop.
      Value buffer = newBuffer(t);
      storeInto(loc, buffer, v);
      buffers_[op.getRegionIterArg(i)] = buffer;
      buffers_[op.getResult(i)] = buffer;
    } else {
      scalar_args.push_back(i);
      init.push_back(scalar(v));
    }
  }
  auto made = scf::ForOp::create(b_, loc, scalar(op.getLowerBound()), scalar(op.getUpperBound()), scalar(op.getStep()), init);
  scalars_.map(op.getInductionVar(), made.getInductionVar());
  for (auto [k, i] : llvm::enumerate(scalar_args)) scalars_.map(op.getRegionIterArg(i), made.getRegionIterArg(k));
  {
    OpBuilder::InsertionGuard guard(b_);
    if (init.empty())
      b_.setInsertionPoint(made.getBody()->getTerminator());
    else
      b_.setInsertionPointToEnd(made.getBody());
    lowerBlock(*op.getBody());
    if (!status_.ok()) return;
    // All yields are complete before the first carried buffer changes.
    SmallVector<std::pair<Value, Value>> copies;
    for (auto [i, v] : llvm::enumerate(op.getYieldedValues())) {
      auto t = dyn_cast<RankedTensorType>(v.getType());
      if (!t || v == op.getRegionIterArg(i)) continue;
      Value from = buffers_.lookup(v);
      if (!from || isa<BlockArgument>(v)) {
        from = newBuffer(t);
        storeInto(loc, from, v);
      }
      copies.push_back({from, buffers_[op.getRegionIterArg(i)]});
    }
    for (auto [from, to] : copies) memref::CopyOp::create(b_, loc, from, to);
    SmallVector<Value> yields;
    for (int i : scalar_args) yields.push_back(scalar(op.getYieldedValues()[i]));
    if (!init.empty()) scf::YieldOp::create(b_, loc, yields);
  }
  for (auto [k, i] : llvm::enumerate(scalar_args)) scalars_.map(op.getResult(i), made.getResult(k));
}

void HostLowering::lowerIf(scf::IfOp op) {
  Location loc = op.getLoc();
  SmallVector<Type> types;
  for (Value r : op.getResults()) {
    if (auto t = dyn_cast<RankedTensorType>(r.getType()))
      buffers_[r] = newBuffer(t);
    else
      types.push_back(r.getType());
  }
  auto made = scf::IfOp::create(b_, loc, types, scalar(op.getCondition()), !op.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(op->getRegions(), made->getRegions())) {
    if (from.empty()) continue;
    OpBuilder::InsertionGuard guard(b_);
    if (!to.front().empty()) to.front().back().erase();
    b_.setInsertionPointToEnd(&to.front());
    lowerBlock(from.front());
    if (!status_.ok()) return;
    SmallVector<Value> yields;
    for (auto [r, v] : llvm::zip(op.getResults(), from.front().getTerminator()->getOperands())) {
      if (isa<RankedTensorType>(v.getType()))
        storeInto(loc, buffers_[r], v);
      else
        yields.push_back(scalar(v));
    }
    scf::YieldOp::create(b_, loc, yields);
  }
  size_t next = 0;
  for (Value r : op.getResults())
    if (!isa<RankedTensorType>(r.getType())) scalars_.map(r, made.getResult(next++));
}

namespace {

Status simplify(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return succeeded(pm.run(module)) ? Status()
                                   : Status(Diag{Code::kInternal, "simplification failed", "simplify", "report this program"});
}

Status dropStaged(ModuleOp module) {
  module.walk([](tile::StagedOp op) {
    op.getResult().replaceAllUsesWith(op.getValue());
    op.erase();
  });
  return {};
}

Status toLoops(ModuleOp module) {
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (func->hasAttr(tile::kKernelAttr)) NEREID_CHECK_OK(HostLowering(func).run());
  return {};
}

constexpr HostStage kTable[] = {
    {"drop_staged", "without roles a staged value is the value; it would only hide a chain from fusion", dropStaged},
    {"simplify", "equal subexpressions have one buffer, constants of the exact class fold", simplify},
    {"tile_to_loops", "tiles become buffers and loops", toLoops},
    {"simplify_loops", "index arithmetic of neighbouring chunks is shared", simplify},
};

}  // namespace

std::span<const HostStage> tileToHostTable() { return kTable; }

Status lowerTileToHost(ModuleOp module) {
  std::string message;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic& d) {
    if (message.empty()) llvm::raw_string_ostream(message) << d;
    return success();
  });
  for (const HostStage& stage : kTable) {
    NEREID_CHECK_OK(stage.run(module));
    if (failed(verify(module))) return Diag{Code::kInternal, message, stage.name, "report this program"};
  }
  return {};
}

}  // namespace nereid::cpu
