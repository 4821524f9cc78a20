#include "compiler/host/expand_f8.h"

#include <bit>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace nereid::compiler {
namespace {

using mlir::Value;
namespace arith = mlir::arith;

// Emits elementwise code for values of one shape.
class Emit {
 public:
  Emit(mlir::OpBuilder& builder, mlir::Operation* op) : b_(builder), loc_(op->getLoc()), like_(op->getOperand(0).getType()) {}

  mlir::Type shaped(mlir::Type element) const {
    auto shape = mlir::dyn_cast<mlir::ShapedType>(like_);
    return shape ? mlir::Type(shape.clone(element)) : element;
  }
  mlir::Type i8() const { return shaped(b_.getI8Type()); }
  mlir::Type i32() const { return shaped(b_.getI32Type()); }
  mlir::Type f32() const { return shaped(b_.getF32Type()); }

  Value word(uint32_t bits) const { return constant(i32(), b_.getI32IntegerAttr(std::bit_cast<int32_t>(bits))); }
  Value real(float value) const { return constant(f32(), b_.getF32FloatAttr(value)); }
  Value bits(Value x) const { return arith::BitcastOp::create(b_, loc_, i32(), x); }
  Value fromBits(Value x) const { return arith::BitcastOp::create(b_, loc_, f32(), x); }
  Value code(Value f8) const { return arith::ExtUIOp::create(b_, loc_, i32(), arith::BitcastOp::create(b_, loc_, i8(), f8)); }
  Value fromCode(Value x, mlir::Type f8) const {
    return arith::BitcastOp::create(b_, loc_, f8, arith::TruncIOp::create(b_, loc_, i8(), x));
  }
  Value andi(Value x, uint32_t mask) const { return arith::AndIOp::create(b_, loc_, x, word(mask)); }
  Value ori(Value x, Value y) const { return arith::OrIOp::create(b_, loc_, x, y); }
  Value shl(Value x, uint32_t n) const { return arith::ShLIOp::create(b_, loc_, x, word(n)); }
  Value shr(Value x, uint32_t n) const { return arith::ShRUIOp::create(b_, loc_, x, word(n)); }
  Value addi(Value x, Value y) const { return arith::AddIOp::create(b_, loc_, x, y); }
  Value addf(Value x, Value y) const { return arith::AddFOp::create(b_, loc_, x, y); }
  Value mulf(Value x, Value y) const { return arith::MulFOp::create(b_, loc_, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, uint32_t y) const {
    return arith::CmpIOp::create(b_, loc_, predicate, x, word(y));
  }
  Value below(Value x, uint32_t y) const { return compare(arith::CmpIPredicate::ult, x, y); }
  Value equal(Value x, uint32_t y) const { return compare(arith::CmpIPredicate::eq, x, y); }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b_, loc_, condition, x, y); }
  Value extend(Value x) const { return x.getType() == f32() ? x : Value(arith::ExtFOp::create(b_, loc_, f32(), x)); }
  Value narrow(Value x, mlir::Type type) const {
    if (type == x.getType()) return x;
    if (mlir::getElementTypeOrSelf(type).isF64()) return arith::ExtFOp::create(b_, loc_, type, x);
    return arith::TruncFOp::create(b_, loc_, type, x);
  }

 private:
  Value constant(mlir::Type type, mlir::TypedAttr element) const {
    if (auto shape = mlir::dyn_cast<mlir::ShapedType>(type))
      return arith::ConstantOp::create(b_, loc_, mlir::DenseElementsAttr::get(shape, mlir::Attribute(element)));
    return arith::ConstantOp::create(b_, loc_, element);
  }

  mlir::OpBuilder& b_;
  mlir::Location loc_;
  mlir::Type like_;
};

constexpr uint32_t kNan = 0x7FC00000;
constexpr uint32_t kInfinity = 0x7F800000;

// The seven bits of magnitude, moved to f32's place, are the value times 2^-120, also for subnormals.
Value e4m3ToF32(const Emit& e, Value x) {
  Value code = e.code(x), magnitude = e.andi(code, 0x7F);
  Value moved = e.ori(e.shl(e.andi(code, 0x80), 24), e.shl(magnitude, 20));
  Value value = e.mulf(e.fromBits(moved), e.real(0x1p120f));
  return e.select(e.equal(magnitude, 0x7F), e.fromBits(e.ori(e.andi(moved, 0x80000000), e.word(kNan))), value);
}

Value f32ToE4m3(const Emit& e, Value x, mlir::Type f8) {
  Value bits = e.bits(x), sign = e.andi(e.shr(bits, 24), 0x80), magnitude = e.andi(bits, 0x7FFFFFFF);
  // Normal results: drop 20 bits of mantissa with rounding; the exponents differ by 120. A carry into the exponent is right.
  Value odd = e.andi(e.shr(magnitude, 20), 1);
  Value normal = e.addi(e.shr(e.addi(e.addi(magnitude, e.word(0x7FFFF)), odd), 20), e.word(-(120u << 3)));
  // Subnormal results: multiples of 2^-9, which is the last bit of numbers at 2^14, so that the addition rounds.
  Value small = e.addi(e.bits(e.addf(e.fromBits(magnitude), e.real(0x1p14f))), e.word(-std::bit_cast<uint32_t>(0x1p14f)));
  Value code = e.select(e.below(magnitude, std::bit_cast<uint32_t>(0x1p-6f)), small, normal);
  code = e.select(e.below(magnitude, std::bit_cast<uint32_t>(448.0f)), code, e.word(0x7E));
  code = e.select(e.below(magnitude, kInfinity + 1), code, e.word(0x7F));
  return e.fromCode(e.ori(code, sign), f8);
}

Value e8m0ToF32(const Emit& e, Value x) {
  Value code = e.code(x);
  Value bits = e.select(e.equal(code, 0), e.word(0x00400000), e.shl(code, 23));
  return e.fromBits(e.select(e.equal(code, 255), e.word(kNan), bits));
}

Value f32ToE8m0(const Emit& e, Value x, mlir::Type f8) {
  Value bits = e.bits(x);
  Value code = e.select(e.below(bits, 0x00600000), e.word(0), e.shr(e.addi(bits, e.word(0x00400000)), 23));
  code = e.select(e.below(code, 255), code, e.word(254));
  return e.fromCode(e.select(e.below(bits, kInfinity), code, e.word(255)), f8);
}

struct ExpandF8Pass : mlir::PassWrapper<ExpandF8Pass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandF8Pass)
  llvm::StringRef getArgument() const final { return "nereid-expand-f8"; }
  llvm::StringRef getDescription() const final { return "conversions of E4M3 and E8M0 to integer arithmetic"; }

  void runOnOperation() final {
    getOperation()->walk([&](mlir::Operation* op) {
      if (!mlir::isa<arith::ExtFOp, arith::TruncFOp>(op)) return;
      mlir::Type from = mlir::getElementTypeOrSelf(op->getOperand(0).getType());
      mlir::Type to = mlir::getElementTypeOrSelf(op->getResult(0).getType());
      mlir::OpBuilder builder(op);
      Emit e(builder, op);
      Value x = op->getOperand(0), result;
      mlir::Type type = op->getResult(0).getType();
      if (mlir::isa<mlir::Float8E4M3FNType>(from)) result = e.narrow(e4m3ToF32(e, x), type);
      if (mlir::isa<mlir::Float8E8M0FNUType>(from)) result = e.narrow(e8m0ToF32(e, x), type);
      if (from.isF64()) return;  // no kernel narrows doubles to eight bits; twofold rounding would be wrong
      if (mlir::isa<mlir::Float8E4M3FNType>(to)) result = f32ToE4m3(e, e.extend(x), type);
      if (mlir::isa<mlir::Float8E8M0FNUType>(to)) result = f32ToE8m0(e, e.extend(x), type);
      if (!result) return;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    });
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createExpandF8Pass() { return std::make_unique<ExpandF8Pass>(); }

}  // namespace nereid::compiler
