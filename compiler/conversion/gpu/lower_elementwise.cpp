// Elementwise ops, conversions, constants, ranges and broadcasts: work on registers of one thread, no data moves.
#include <map>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/conversion/gpu/lowering.h"
#include "compiler/transforms/guard_unit_rows.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Layout;

namespace {

Type elementOf(Value v) {
  auto t = dyn_cast<RankedTensorType>(v.getType());
  return t ? t.getElementType() : v.getType();
}

bool isHalf(Type t) { return t.isF16() || t.isBF16(); }
bool isFp8(Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() == 8; }

}  // namespace

void Lowering::lowerConstant(Operation* op) {
  auto c = cast<arith::ConstantOp>(op);
  auto type = cast<RankedTensorType>(c.getType());
  auto splat = cast<SplatElementsAttr>(c.getValue());
  Type element = type.getElementType();
  Attribute value = splat.getSplatValue<Attribute>();
  if (isFp8(element))
    value = b_.getIntegerAttr(b_.getI8Type(), cast<FloatAttr>(value).getValue().bitcastToAPInt().getSExtValue());
  Value x = arith::ConstantOp::create(b_, op->getLoc(), cast<TypedAttr>(value));
  set(c.getResult(), pack(op->getLoc(), Fragment(tile::layoutOf(type)->registers(), x), element));
}

void Lowering::lowerRange(tile::RangeOp op) {
  const Layout l = layoutOf(op.getResult());
  Location loc = op.getLoc();
  Value base = coordinate(loc, l, 0);
  Fragment f;
  for (int r = 0; r < l.registers(); r++)
    f.push_back(addConstant(loc, base, l.regOffset(r)[0] + static_cast<int>(op.getStart())));
  set(op.getResult(), f);
}

void Lowering::lowerBroadcast(tile::BroadcastOp op) {
  const Layout to = layoutOf(op.getResult()), from = layoutOf(op.getValue());
  const int dim = op.getDim();
  Location loc = op.getLoc();
  Type element = elementOf(op.getValue());
  Fragment in = unpack(loc, get(op.getValue()), element, from.registers());
  std::map<layout::Coord, int> where;
  for (int r = 0; r < from.registers(); r++) where[from.regOffset(r)] = r;
  Fragment out;
  for (int r = 0; r < to.registers(); r++) {
    auto it = where.find({to.regOffset(r)[dim]});
    if (it == where.end())
      return fail(op, "a vector's layout does not fit the matrix that it is broadcast to", "report this program");
    out.push_back(in[it->second]);
  }
  set(op.getResult(), pack(loc, out, element));
}

// Conversions that no upstream lowering has, or that work on packed pairs.
void Lowering::lowerConversion(Operation* op) {
  Value in = op->getOperand(0), out = op->getResult(0);
  const int registers = layoutOf(out).registers();
  Type from = elementOf(in), to = elementOf(out);
  Location loc = op->getLoc();
  const Fragment& f = get(in);
  auto vec = [&](int n, Type t) { return VectorType::get({n}, t); };

  if (isa<Float8E8M0FNUType>(to))
    return fail(op, "a conversion to f8E8M0FNU", "compute the code, which is the exponent field of f32, as an integer");
  const bool e4m3 = isa<Float8E4M3FNType>(from) || isa<Float8E4M3FNType>(to);
  if (e4m3 && !target_.has_fp8) {
    // No instruction: the scalar op stays, and expand_f8 turns it into integer arithmetic.
    Fragment result;
    for (Value x : unpack(loc, f, from, registers)) {
      if (isFp8(from)) x = arith::BitcastOp::create(b_, loc, from, x);
      OperationState state(loc, op->getName(), ValueRange(x), TypeRange(to), op->getAttrs());
      Value y = b_.create(state)->getResult(0);
      result.push_back(isFp8(to) ? arith::BitcastOp::create(b_, loc, b_.getI8Type(), y).getResult() : y);
    }
    return set(out, pack(loc, result, to));
  }

  if (isa<Float8E4M3FNType>(from) && isa<arith::ExtFOp>(op)) {
    // e4m3 → f16 is exact; wider types go through it.
    SmallVector<Value> halves;  // vector<2xf16> for each pair of elements
    if (packOf(from, registers) < 2) {
      Value word = arith::ExtUIOp::create(b_, loc, b_.getI16Type(), f[0]);
      halves.push_back(nv_.e4m3x2ToF16x2(loc, LLVM::BitcastOp::create(b_, loc, vec(2, b_.getI8Type()), word)));
    }
    for (Value word : f) {
      if (packOf(from, registers) < 2) break;
      const int pairs = word.getType().getIntOrFloatBitWidth() / 16;
      for (int i = 0; i < pairs; i++) {
        Value pair = i ? arith::ShRUIOp::create(b_, loc, word,
                                                arith::ConstantOp::create(b_, loc, b_.getIntegerAttr(word.getType(), 16 * i)))
                       : word;
        if (pairs > 1) pair = arith::TruncIOp::create(b_, loc, b_.getI16Type(), pair);
        halves.push_back(nv_.e4m3x2ToF16x2(loc, LLVM::BitcastOp::create(b_, loc, vec(2, b_.getI8Type()), pair)));
      }
    }
    if (to.isF16() && registers > 1) return set(out, halves);
    Fragment scalars;
    for (Value h : halves) {
      if (to.isBF16() && registers > 1) {
        Value wide = arith::ExtFOp::create(b_, loc, vec(2, b_.getF32Type()), h);
        scalars.push_back(arith::TruncFOp::create(b_, loc, vec(2, to), wide));
        continue;
      }
      for (int i = 0; i < 2; i++) {
        Value x = vector::ExtractOp::create(b_, loc, h, i);
        if (!to.isF16()) x = arith::ExtFOp::create(b_, loc, b_.getF32Type(), x);
        if (to.isBF16()) x = arith::TruncFOp::create(b_, loc, to, x);
        scalars.push_back(x);
      }
    }
    scalars.resize(to.isBF16() && registers > 1 ? registers / 2 : registers);
    return set(out, scalars);
  }

  if (isa<Float8E8M0FNUType>(from) && isa<arith::ExtFOp>(op)) {
    // 2^(code - 127): the code is the exponent field; code 0 is a subnormal of f32 and 255 is NaN.
    Fragment result;
    for (Value x : unpack(loc, f, from, registers)) {
      Value code = arith::ExtUIOp::create(b_, loc, b_.getI32Type(), x);
      Value bits = arith::ShLIOp::create(b_, loc, code, i32(loc, 23));
      Value zero = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, code, i32(loc, 0));
      Value nan = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, code, i32(loc, 255));
      bits = arith::SelectOp::create(b_, loc, zero, i32(loc, 0x00400000), bits);
      bits = arith::SelectOp::create(b_, loc, nan, i32(loc, 0x7fc00000), bits);
      Value value = arith::BitcastOp::create(b_, loc, b_.getF32Type(), bits);
      if (!to.isF32()) value = arith::TruncFOp::create(b_, loc, to, value);
      result.push_back(value);
    }
    return set(out, pack(loc, result, to));
  }

  if (isa<Float8E4M3FNType>(to) && isa<arith::TruncFOp>(op)) {
    Fragment wide, codes;
    for (Value x : unpack(loc, f, from, registers))
      wide.push_back(from.isF32() ? x : arith::ExtFOp::create(b_, loc, b_.getF32Type(), x).getResult());
    for (int r = 0; r < registers; r += 2) {
      Value lo = wide[r], hi = r + 1 < registers ? wide[r + 1] : wide[r];
      Value pair = nv_.f32x2ToE4m3x2(loc, hi, lo);
      codes.push_back(arith::TruncIOp::create(b_, loc, b_.getI8Type(), pair));
      if (r + 1 < registers)
        codes.push_back(arith::TruncIOp::create(
            b_, loc, b_.getI8Type(),
            arith::ShRUIOp::create(b_, loc, pair, arith::ConstantOp::create(b_, loc, b_.getI16IntegerAttr(8)))));
    }
    return set(out, pack(loc, codes, to));
  }

  if (isHalf(to) && from.isF32() && isa<arith::TruncFOp>(op) && packOf(to, registers) == 2) {
    Fragment result;
    for (int r = 0; r < registers; r += 2) {
      Value pair = vector::FromElementsOp::create(b_, loc, vec(2, from), ArrayRef<Value>{f[r], f[r + 1]});
      result.push_back(arith::TruncFOp::create(b_, loc, vec(2, to), pair));
    }
    return set(out, result);
  }

  Fragment result;
  for (Value x : unpack(loc, f, from, registers)) {
    OperationState state(loc, op->getName(), ValueRange(x), TypeRange(scalarOf(to)), op->getAttrs());
    result.push_back(b_.create(state)->getResult(0));
  }
  set(out, pack(loc, result, to));
}

void Lowering::lowerElementwise(Operation* op) {
  Location loc = op->getLoc();
  Value out = op->getResult(0);
  const bool tile = isa<RankedTensorType>(out.getType());
  const int registers = tile ? layoutOf(out).registers() : 1;
  Type to = elementOf(out);
  if (tile && isa<arith::ExtFOp, arith::TruncFOp>(op)) return lowerConversion(op);

  // Packed halves where the op has a packed form.
  bool packed =
      tile && isHalf(to) && packOf(to, registers) == 2 &&
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaxNumFOp, arith::MinNumFOp, math::AbsFOp>(op);
  SmallVector<Fragment> operands;
  for (Value v : op->getOperands()) {
    if (!isa<RankedTensorType>(v.getType()))
      operands.push_back(Fragment(registers, scalar(v)));
    else
      operands.push_back(packed ? get(v) : unpack(loc, get(v), elementOf(v), registers));
  }
  if (!status_.ok()) return;
  Fragment result;
  const size_t count = packed ? registers / 2 : registers;
  for (size_t r = 0; r < count; r++) {
    SmallVector<Value> args;
    for (const Fragment& f : operands) args.push_back(f[r]);
    Value x = args[0];
    Type type = packed ? x.getType() : scalarOf(to);
    if (!isa<arith::BitcastOp>(op) || x.getType() != type) {
      OperationState state(loc, op->getName(), args, TypeRange(type), op->getAttrs());
      x = b_.create(state)->getResult(0);
    }
    result.push_back(x);
  }
  if (!tile) return scalars_.map(out, result[0]);
  set(out, packed ? result : pack(loc, result, to));
}

// Multiplications by row factors that are mostly one: those that follow each other share one branch, taken if any lane of the
// warp has a factor other than one. Returns the op after the last.
Block::iterator Lowering::lowerGuardedProducts(Block::iterator first, Block::iterator end) {
  SmallVector<Operation*> products;
  Block::iterator it = first;
  for (; it != end; ++it) {
    if (isa<tile::BroadcastOp>(&*it)) {
      lowerOp(&*it);
      continue;
    }
    // A factor computed in another layout, or a constant, may stand between.
    const bool ready =
        it->hasAttr(tile::kSkipIfUnitAttr) && llvm::all_of(it->getOperands(), [&](Value v) { return fragments_.contains(v); });
    if (!ready) break;
    products.push_back(&*it);
  }
  Location loc = first->getLoc();
  Value one = arith::ConstantOp::create(b_, loc, b_.getF32FloatAttr(1.0f));
  llvm::SetVector<Value> factors;
  SmallVector<Type> types;
  for (Operation* op : products) {
    const int f = static_cast<int>(op->getAttrOfType<IntegerAttr>(tile::kSkipIfUnitAttr).getInt());
    for (Value x : get(op->getOperand(f))) factors.insert(x);
    llvm::append_range(types, fragmentTypes(cast<RankedTensorType>(op->getResult(0).getType())));
  }
  Value changes;
  for (Value x : factors) {
    // Unordered: a NaN factor has to be multiplied.
    Value differs = arith::CmpFOp::create(b_, loc, arith::CmpFPredicate::UNE, x, one);
    changes = changes ? arith::OrIOp::create(b_, loc, changes, differs).getResult() : differs;
  }
  auto branch = scf::IfOp::create(b_, loc, types, nv_.any(loc, changes), true);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> yields, kept;
    for (Operation* op : products) {
      const int f = static_cast<int>(op->getAttrOfType<IntegerAttr>(tile::kSkipIfUnitAttr).getInt());
      lowerElementwise(op);
      llvm::append_range(yields, get(op->getResult(0)));
      llvm::append_range(kept, get(op->getOperand(1 - f)));
    }
    scf::YieldOp::create(b_, loc, yields);
    b_.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b_, loc, kept);
  }
  size_t next = 0;
  for (Operation* op : products) {
    const size_t n = get(op->getResult(0)).size();
    auto results = branch.getResults();
    set(op->getResult(0), Fragment(results.begin() + next, results.begin() + next + n));
    next += n;
  }
  return it;
}

}  // namespace nereid::gpu
