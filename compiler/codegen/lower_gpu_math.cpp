#include "compiler/codegen/lower_gpu_math.h"

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nereid::compiler {
namespace {

using mlir::Value;

constexpr double kLog2E = 1.4426950408889634074;
constexpr double kLn2 = 0.69314718055994530942;

// Emits scalar f32 code at one place.
struct Emit {
  mlir::OpBuilder& b;
  mlir::Location loc;
  Value constant(double v) const { return mlir::arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(v))); }
  Value mul(Value x, Value y) const { return mlir::arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) const { return mlir::arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return mlir::arith::SubFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) const { return mlir::arith::DivFOp::create(b, loc, x, y); }
  Value intrinsic(llvm::StringRef name, Value x) const {
    return mlir::LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(), b.getStringAttr(name), mlir::ValueRange{x}).getResults();
  }
};

Value exp2Of(const Emit& e, Value x) { return e.intrinsic("llvm.nvvm.ex2.approx.ftz.f32", x); }
Value log2Of(const Emit& e, Value x) { return e.intrinsic("llvm.nvvm.lg2.approx.f", x); }
Value expOf(const Emit& e, Value x) { return exp2Of(e, e.mul(x, e.constant(kLog2E))); }
Value logOf(const Emit& e, Value x) { return e.mul(log2Of(e, x), e.constant(kLn2)); }
Value rsqrtOf(const Emit& e, Value x) { return e.intrinsic("llvm.nvvm.rsqrt.approx.f", x); }

// 1 - 2/(e^2x + 1), which loses digits near zero; there the Taylor polynomial up to x^5 (relative error 6e-8 at 0.1).
Value tanhOf(const Emit& e, Value x) {
  Value power = exp2Of(e, e.mul(x, e.constant(2 * kLog2E)));
  Value far = e.sub(e.constant(1), e.div(e.constant(2), e.add(power, e.constant(1))));
  Value square = e.mul(x, x);
  Value inner = e.add(e.constant(-1.0 / 3), e.mul(square, e.constant(2.0 / 15)));
  Value near = e.add(x, e.mul(x, e.mul(square, inner)));
  Value magnitude = mlir::math::AbsFOp::create(e.b, e.loc, x);
  Value small = mlir::arith::CmpFOp::create(e.b, e.loc, mlir::arith::CmpFPredicate::OLT, magnitude, e.constant(0.1));
  return mlir::arith::SelectOp::create(e.b, e.loc, small, near, far);
}

using Lowering = Value (*)(const Emit&, Value);

const llvm::StringMap<Lowering>& lowerings() {
  static const llvm::StringMap<Lowering> table = {{"math.exp2", exp2Of}, {"math.exp", expOf},     {"math.log2", log2Of},
                                                  {"math.log", logOf},   {"math.rsqrt", rsqrtOf}, {"math.tanh", tanhOf}};
  return table;
}

// math ops that end in instructions by way of LLVM intrinsics.
bool hasInstruction(mlir::Operation* op) {
  return mlir::isa<mlir::math::FmaOp, mlir::math::SqrtOp, mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::FloorOp,
                   mlir::math::CeilOp, mlir::math::TruncOp, mlir::math::RoundOp, mlir::math::RoundEvenOp, mlir::math::CopySignOp,
                   mlir::math::CtPopOp, mlir::math::CountLeadingZerosOp, mlir::math::CountTrailingZerosOp, mlir::math::IsNaNOp,
                   mlir::math::IsInfOp, mlir::math::IsFiniteOp>(op);
}

// Applies a scalar lowering to each element.
Value lowerElements(const Emit& e, Lowering lower, Value x) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(x.getType());
  if (!vector) return lower(e, x);
  Value result = mlir::arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vector));
  for (int64_t i = 0; i < vector.getNumElements(); i++) {
    llvm::SmallVector<int64_t> at(vector.getRank());
    for (int64_t d = vector.getRank() - 1, rest = i; d >= 0; d--) {
      at[d] = rest % vector.getDimSize(d);
      rest /= vector.getDimSize(d);
    }
    Value element = mlir::vector::ExtractOp::create(e.b, e.loc, x, at);
    result = mlir::vector::InsertOp::create(e.b, e.loc, lower(e, element), result, at);
  }
  return result;
}

struct LowerGpuMathPass : mlir::PassWrapper<LowerGpuMathPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerGpuMathPass)
  llvm::StringRef getArgument() const final { return "nereid-lower-gpu-math"; }
  llvm::StringRef getDescription() const final { return "elementary functions to the GPU's approximations"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    registry.insert<mlir::LLVM::LLVMDialect, mlir::arith::ArithDialect, mlir::vector::VectorDialect, mlir::math::MathDialect>();
  }

  void runOnOperation() final {
    llvm::SmallVector<mlir::Operation*> ops;
    bool has_rounded_division = false;
    getOperation()->walk([&](mlir::Operation* op) {
      if (op->getName().getDialectNamespace() == "math" && !hasInstruction(op)) ops.push_back(op);
      has_rounded_division |= mlir::isa<mlir::arith::CeilDivSIOp, mlir::arith::CeilDivUIOp, mlir::arith::FloorDivSIOp>(op);
    });
    for (mlir::Operation* op : ops) {
      auto row = lowerings().find(op->getName().getStringRef());
      bool f32 = op->getNumResults() == 1 && mlir::getElementTypeOrSelf(op->getResult(0).getType()).isF32();
      if (row == lowerings().end() || !f32) {
        op->emitError() << "'" << op->getName() << "' on " << op->getResult(0).getType()
                        << " has no GPU lowering; use exp2, exp, log2, log, rsqrt, sqrt or tanh on f32";
        return signalPassFailure();
      }
      mlir::OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(lowerElements(Emit{builder, op->getLoc()}, row->second, op->getOperand(0)));
      op->erase();
    }
    if (!has_rounded_division) return;
    mlir::RewritePatternSet patterns(&getContext());
    mlir::arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (mlir::failed(mlir::applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createLowerGpuMathPass() { return std::make_unique<LowerGpuMathPass>(); }

}  // namespace nereid::compiler
