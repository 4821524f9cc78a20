// Operators and Builder: each call records one op (or few) at the caller's line.
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <fmt/format.h>

#include "compiler/dialect/tile_dialect.h"
#include "compiler/dsl/dsl_impl.h"

namespace nereid::dsl {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
using Loc = std::source_location;

struct Joined {
  Recorder* r = nullptr;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> values;
  mlir::Type element;
  int axis = -1;
};

Recorder* recorderOf(std::initializer_list<const Operand*> operands) {
  for (const Operand* o : operands)
    if (Recorder* r = Recorder::of(o->value)) return r;
  throw MisuseError{{Code::kUsage, "an expression of literals only", "", "use a recorded value, for instance Builder::constant"}};
}

// Brings operands to one element type (from the first recorded one; `skip` operands keep theirs) and one shape.
Joined join(std::initializer_list<const Operand*> operands, int skip = 0) {
  Recorder* r = recorderOf(operands);
  const Loc loc = (*operands.begin())->loc;
  Joined j{.r = r, .loc = r->at(loc)};
  int i = 0;
  for (const Operand* o : operands)
    if (i++ >= skip && !o->value.isLiteral() && !j.element) {
      mlir::Type t = r->raw(o->value).getType();
      auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(t);
      j.element = tensor ? tensor.getElementType() : t;
    }
  if (!j.element) j.element = mlir::Type();
  llvm::SmallVector<Value> values;
  i = 0;
  for (const Operand* o : operands) {
    const bool skipped = i++ < skip;
    if (!j.element && o->value.isLiteral())
      values.push_back(
          r->materialize(o->value, Recorder::isIntLiteral(o->value) ? r->mlirType(Type::I32) : r->mlirType(Type::F32), loc));
    else
      values.push_back(r->materialize(o->value, skipped ? r->mlirType(Type::I1) : j.element, loc));
  }
  if (!j.element) j.element = r->raw(values.back()).getType();
  // The common shape: a matrix if there is one or a column meets a row; else the vector (with its axis); else a scalar.
  llvm::SmallVector<int64_t> shape, vector_shape;
  int64_t rows = 0, cols = 0, plain = 0;
  for (const Value& v : values) {
    auto s = v.shape();
    if (s.empty()) continue;
    if (r->axisOf(v) == 0)
      rows = s[0];
    else if (r->axisOf(v) == 1)
      cols = s[1];
    else if (s.size() == 2)
      shape.assign(s.begin(), s.end());
    else
      plain = s[0];
  }
  if (shape.empty() && rows && cols) shape = {rows, cols};
  if (shape.empty() && (rows || cols)) {
    if (plain) r->misuse("a plain vector meets .col() or .row()", loc, "give both the same orientation");
    j.axis = rows ? 0 : 1;
    shape = {rows ? rows : cols};
  } else if (shape.empty() && plain) {
    shape = {plain};
  }
  for (const Value& v : values) {
    // A vector that keeps its orientation is joined as a plain vector.
    const bool keep = j.axis >= 0 && r->axisOf(v) >= 0;
    j.values.push_back(keep ? r->raw(v) : r->expand(v, shape, loc));
  }
  i = 0;
  mlir::Type first;
  for (mlir::Value v : j.values) {
    if (i++ < skip) continue;
    auto t = mlir::dyn_cast<mlir::RankedTensorType>(v.getType());
    mlir::Type e = t ? t.getElementType() : v.getType();
    if (first && e != first) {
      std::string what;
      llvm::raw_string_ostream(what) << "operands of types " << first << " and " << e;
      r->misuse(what, loc, "convert one with .to(Type)");
    }
    first = e;
  }
  return j;
}

template <typename IntOp, typename FloatOp>
Value binary(const Operand& a, const Operand& b) {
  Joined j = join({&a, &b});
  mlir::OpBuilder& ob = j.r->b;
  if (j.element.isIntOrIndex()) {
    if constexpr (!std::is_void_v<IntOp>) return j.r->wrap(IntOp::create(ob, j.loc, j.values[0], j.values[1]), j.axis);
  } else {
    if constexpr (!std::is_void_v<FloatOp>) return j.r->wrap(FloatOp::create(ob, j.loc, j.values[0], j.values[1]), j.axis);
  }
  j.r->misuse(j.element.isIntOrIndex() ? "this operator takes floats" : "this operator takes integers", a.loc);
}

Value compare(const Operand& a, const Operand& b, arith::CmpIPredicate ip, arith::CmpFPredicate fp) {
  Joined j = join({&a, &b});
  if (j.element.isIntOrIndex()) return j.r->wrap(arith::CmpIOp::create(j.r->b, j.loc, ip, j.values[0], j.values[1]), j.axis);
  return j.r->wrap(arith::CmpFOp::create(j.r->b, j.loc, fp, j.values[0], j.values[1]), j.axis);
}

template <typename Op>
Value unary(const Operand& a) {
  Joined j = join({&a});
  return j.r->wrap(Op::create(j.r->b, j.loc, j.values[0]), j.axis);
}

mlir::Type likeShape(mlir::Value v, mlir::Type element) {
  if (auto t = mlir::dyn_cast<mlir::RankedTensorType>(v.getType())) return mlir::RankedTensorType::get(t.getShape(), element);
  return element;
}

Value reduce(tile::ReduceKind kind, const Operand& a, int dim) {
  Recorder* r = recorderOf({&a});
  mlir::Value v = r->raw(a.value);
  auto t = mlir::dyn_cast<mlir::RankedTensorType>(v.getType());
  if (!t || dim < 0 || dim >= t.getRank() || r->axisOf(a.value) >= 0)
    r->misuse(fmt::format("a reduction over dimension {} of a value without it", dim), a.loc);
  mlir::Type to = t.getElementType();
  if (t.getRank() == 2) to = mlir::RankedTensorType::get({t.getDimSize(1 - dim)}, to);
  return r->wrap(tile::ReduceOp::create(r->b, r->at(a.loc), to, kind, v, static_cast<uint32_t>(dim)));
}

}  // namespace

Value operator+(const Operand& a, const Operand& b) { return binary<arith::AddIOp, arith::AddFOp>(a, b); }
Value operator-(const Operand& a, const Operand& b) { return binary<arith::SubIOp, arith::SubFOp>(a, b); }
Value operator*(const Operand& a, const Operand& b) { return binary<arith::MulIOp, arith::MulFOp>(a, b); }
Value operator/(const Operand& a, const Operand& b) { return binary<arith::DivSIOp, arith::DivFOp>(a, b); }
Value operator%(const Operand& a, const Operand& b) { return binary<arith::RemSIOp, void>(a, b); }
Value operator&(const Operand& a, const Operand& b) { return binary<arith::AndIOp, void>(a, b); }
Value operator|(const Operand& a, const Operand& b) { return binary<arith::OrIOp, void>(a, b); }
Value operator^(const Operand& a, const Operand& b) { return binary<arith::XOrIOp, void>(a, b); }
Value operator<<(const Operand& a, const Operand& b) { return binary<arith::ShLIOp, void>(a, b); }
Value operator>>(const Operand& a, const Operand& b) { return binary<arith::ShRUIOp, void>(a, b); }
Value divUnsigned(const Operand& a, const Operand& b) { return binary<arith::DivUIOp, void>(a, b); }
Value remUnsigned(const Operand& a, const Operand& b) { return binary<arith::RemUIOp, void>(a, b); }
Value max(const Operand& a, const Operand& b) { return binary<arith::MaxSIOp, arith::MaxNumFOp>(a, b); }
Value min(const Operand& a, const Operand& b) { return binary<arith::MinSIOp, arith::MinNumFOp>(a, b); }
Value operator<(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpIPredicate::slt, arith::CmpFPredicate::OLT);
}
Value operator<=(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpIPredicate::sle, arith::CmpFPredicate::OLE);
}
Value operator>(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpIPredicate::sgt, arith::CmpFPredicate::OGT);
}
Value operator>=(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpIPredicate::sge, arith::CmpFPredicate::OGE);
}
Value operator==(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpIPredicate::eq, arith::CmpFPredicate::OEQ);
}
Value operator!=(const Operand& a, const Operand& b) {
  return compare(a, b, arith::CmpIPredicate::ne, arith::CmpFPredicate::UNE);
}

Value ceilDiv(const Operand& a, const Operand& b) {
  return Operand(Operand(a.value + Operand(b.value, a.loc), a.loc).value - 1, a.loc).value / b;
}

Value operator-(const Operand& a) {
  Joined j = join({&a});
  if (!j.element.isIntOrIndex()) return j.r->wrap(arith::NegFOp::create(j.r->b, j.loc, j.values[0]), j.axis);
  return Operand(Value(0), a.loc) - a;
}

Value operator!(const Operand& a) {
  Joined j = join({&a});
  if (!j.element.isInteger(1)) j.r->misuse("`!` takes i1", a.loc);
  return a ^ Operand(Value(1), a.loc);
}

Value select(const Operand& condition, const Operand& yes, const Operand& no) {
  Joined j = join({&condition, &yes, &no}, 1);
  return j.r->wrap(arith::SelectOp::create(j.r->b, j.loc, j.values[0], j.values[1], j.values[2]), j.axis);
}

Value abs(const Operand& a) { return unary<math::AbsFOp>(a); }
Value exp2(const Operand& a) { return unary<math::Exp2Op>(a); }
Value log2(const Operand& a) { return unary<math::Log2Op>(a); }
Value sqrt(const Operand& a) { return unary<math::SqrtOp>(a); }
Value floor(const Operand& a) { return unary<math::FloorOp>(a); }

Value fma(const Operand& a, const Operand& b, const Operand& c) {
  Joined j = join({&a, &b, &c});
  return j.r->wrap(math::FmaOp::create(j.r->b, j.loc, j.values[0], j.values[1], j.values[2]), j.axis);
}

Value bitcast(const Operand& a, Type type) {
  Joined j = join({&a});
  if (j.element.getIntOrFloatBitWidth() != j.r->mlirType(type).getIntOrFloatBitWidth())
    j.r->misuse("bitcast between types of different size", a.loc);
  return j.r->wrap(arith::BitcastOp::create(j.r->b, j.loc, likeShape(j.values[0], j.r->mlirType(type)), j.values[0]), j.axis);
}

Value trans(const Operand& a) {
  Recorder* r = recorderOf({&a});
  mlir::Value v = r->raw(a.value);
  auto t = mlir::dyn_cast<mlir::RankedTensorType>(v.getType());
  if (!t || t.getRank() != 2) r->misuse("trans takes a matrix", a.loc);
  auto to = mlir::RankedTensorType::get({t.getDimSize(1), t.getDimSize(0)}, t.getElementType());
  return r->wrap(tile::TransOp::create(r->b, r->at(a.loc), to, v));
}

Value reduceSum(const Operand& a, int dim) { return reduce(tile::ReduceKind::Add, a, dim); }
Value reduceMax(const Operand& a, int dim) { return reduce(tile::ReduceKind::Max, a, dim); }
Value reduceMin(const Operand& a, int dim) { return reduce(tile::ReduceKind::Min, a, dim); }
Value reduceOr(const Operand& a, int dim) { return reduce(tile::ReduceKind::Or, a, dim); }

Value Value::to(Type type, Loc loc) const {
  if (isLiteral())
    throw MisuseError{
        {Code::kUsage, "to() of a literal", fmt::format("{}:{}", loc.file_name(), loc.line()), "use Builder::constant"}};
  Recorder& r = *recorder_;
  mlir::Value v = r.raw(*this);
  const Type from = r.dslType(v.getType(), loc);
  if (from == type) return *this;
  mlir::Type to = likeShape(v, r.mlirType(type));
  mlir::Type from_element = r.mlirType(from), to_element = r.mlirType(type);
  mlir::Location at = r.at(loc);
  const bool from_int = from_element.isIntOrIndex(), to_int = to_element.isIntOrIndex();
  const unsigned from_bits = from_element.getIntOrFloatBitWidth(), to_bits = to_element.getIntOrFloatBitWidth();
  mlir::Value out;
  if (from_int && to_int) {
    if (to_bits < from_bits)
      out = arith::TruncIOp::create(r.b, at, to, v);
    else if (from == Type::I1)
      out = arith::ExtUIOp::create(r.b, at, to, v);
    else
      out = arith::ExtSIOp::create(r.b, at, to, v);
  } else if (from_int) {
    out = from == Type::I1 ? arith::UIToFPOp::create(r.b, at, to, v).getResult()
                           : arith::SIToFPOp::create(r.b, at, to, v).getResult();
  } else if (to_int) {
    out = arith::FPToSIOp::create(r.b, at, to, v);
  } else if (to_bits > from_bits) {
    out = arith::ExtFOp::create(r.b, at, to, v);
  } else if (to_bits < from_bits) {
    out = arith::TruncFOp::create(r.b, at, to, v);
  } else {  // f16 and bf16 meet in f32
    out = arith::TruncFOp::create(r.b, at, to, arith::ExtFOp::create(r.b, at, likeShape(v, r.b.getF32Type()), v));
  }
  return r.wrap(out, axis_);
}

//===--------------------------------------------------------------------------------------------------------------------------===//
// Builder
//===--------------------------------------------------------------------------------------------------------------------------===//

Value Builder::arg(std::string_view name, Loc loc) { return r_.wrap(r_.argument(name, loc)); }

Value Builder::pointer(std::string_view name, Type element, Loc loc) {
  const Arg* arg = nullptr;
  mlir::Value v = r_.argument(name, loc, &arg);
  if (arg->type != ArgType::kPointer) r_.misuse(fmt::format("argument {} is no pointer", name), loc);
  return r_.wrap(v, -1, static_cast<int>(element));
}

Value Builder::programId(Loc loc) { return r_.wrap(tile::ProgramIdOp::create(r_.b, r_.at(loc), r_.b.getI32Type())); }

Value Builder::constant(double value, Type type, Loc loc) {
  mlir::Type t = r_.mlirType(type);
  mlir::TypedAttr attr;
  if (t.isIntOrIndex())
    attr = r_.b.getIntegerAttr(t, static_cast<int64_t>(value));
  else
    attr = r_.b.getFloatAttr(t, value);
  return r_.wrap(arith::ConstantOp::create(r_.b, r_.at(loc), attr));
}

Value Builder::full(const Value& scalar, std::vector<int64_t> shape, Loc loc) {
  return r_.wrap(r_.expand(r_.materialize(scalar, r_.mlirType(scalar.type()), loc), shape, loc));
}

Value Builder::full(double value, Type type, std::vector<int64_t> shape, Loc loc) {
  auto t = mlir::RankedTensorType::get(shape, r_.mlirType(type));
  mlir::Attribute element;
  if (t.getElementType().isIntOrIndex())
    element = r_.b.getIntegerAttr(t.getElementType(), static_cast<int64_t>(value));
  else
    element = r_.b.getFloatAttr(t.getElementType(), value);
  return r_.wrap(arith::ConstantOp::create(r_.b, r_.at(loc), mlir::DenseElementsAttr::get(t, element)));
}

Value Builder::range(int64_t count, int start, Loc loc) {
  auto t = mlir::RankedTensorType::get({count}, r_.b.getI32Type());
  return r_.wrap(tile::RangeOp::create(r_.b, r_.at(loc), t, static_cast<uint32_t>(start)));
}

namespace {
mlir::RankedTensorType tensorOr(Recorder& r, const Value& v, const char* what, Loc loc) {
  auto t = v.isLiteral() || !v.present() ? mlir::RankedTensorType() : mlir::dyn_cast<mlir::RankedTensorType>(r.raw(v).getType());
  if (!t) r.misuse(fmt::format("{} must be a tile", what), loc);
  return t;
}
Type elementOr(Recorder& r, const Value& base, Loc loc) {
  const int e = base.present() && !base.isLiteral() ? r.elementOf(base) : -1;
  if (e < 0) r.misuse("the base must come from Builder::pointer", loc);
  return static_cast<Type>(e);
}
}  // namespace

Value Builder::load(const Value& base, const Value& offsets, const Value& mask, const Value& other, Loc loc) {
  auto t = tensorOr(r_, offsets, "offsets", loc);
  mlir::Type element = r_.mlirType(elementOr(r_, base, loc));
  auto shape = t.getShape();
  mlir::Value m, o;
  if (mask.present()) m = r_.expand(r_.materialize(mask, r_.b.getI1Type(), loc), shape, loc);
  if (other.present()) o = r_.expand(r_.materialize(other, element, loc), shape, loc);
  return r_.wrap(
      tile::LoadOp::create(r_.b, r_.at(loc), mlir::RankedTensorType::get(shape, element), r_.raw(base), r_.raw(offsets), m, o));
}

void Builder::store(const Value& base, const Value& offsets, const Value& value, const Value& mask, Loc loc) {
  auto t = tensorOr(r_, offsets, "offsets", loc);
  mlir::Type element = r_.mlirType(elementOr(r_, base, loc));
  auto shape = t.getShape();
  mlir::Value v = r_.expand(r_.materialize(value, element, loc), shape, loc), m;
  if (mlir::cast<mlir::RankedTensorType>(v.getType()).getElementType() != element)
    r_.misuse("the stored value has another type than the pointer", loc, "convert it with .to(Type)");
  if (mask.present()) m = r_.expand(r_.materialize(mask, r_.b.getI1Type(), loc), shape, loc);
  tile::StoreOp::create(r_.b, r_.at(loc), r_.raw(base), r_.raw(offsets), v, m);
}

Value Builder::loadScalar(const Value& base, const Value& offset, Loc loc) {
  mlir::Type element = r_.mlirType(elementOr(r_, base, loc));
  Value o = r_.materialize(offset, r_.b.getI64Type(), loc);
  return r_.wrap(tile::LoadScalarOp::create(r_.b, r_.at(loc), element, r_.raw(base), r_.raw(o)));
}

Value Builder::gatherRows(const Value& base, const Value& offsets, int width, const Value& mask, int align, Loc loc) {
  auto t = tensorOr(r_, offsets, "row offsets", loc);
  auto rows = mlir::RankedTensorType::get({t.getDimSize(0), width}, r_.b.getI8Type());
  mlir::Value m = r_.expand(r_.materialize(mask, r_.b.getI1Type(), loc), t.getShape(), loc);
  return r_.wrap(
      tile::GatherRowsOp::create(r_.b, r_.at(loc), rows, r_.raw(base), r_.raw(offsets), m, static_cast<uint32_t>(align)));
}

void Builder::scatterRows(const Value& base, const Value& offsets, const Value& bytes, const Value& mask, int align, Loc loc) {
  auto t = tensorOr(r_, offsets, "row offsets", loc);
  mlir::Value m = r_.expand(r_.materialize(mask, r_.b.getI1Type(), loc), t.getShape(), loc);
  tile::ScatterRowsOp::create(r_.b, r_.at(loc), r_.raw(base), r_.raw(offsets), r_.raw(bytes), m, static_cast<uint32_t>(align));
}

Value Builder::ticket(const Value& counter, const Value& limit, Loc loc) {
  Value l = r_.materialize(limit, r_.b.getI32Type(), loc);
  return r_.wrap(tile::TicketOp::create(r_.b, r_.at(loc), r_.b.getI32Type(), r_.raw(counter), r_.raw(l)));
}

Value Builder::view(const Value& bytes, int at, Type type, int cols, Loc loc) {
  auto t = tensorOr(r_, bytes, "bytes", loc);
  auto to = mlir::RankedTensorType::get({t.getDimSize(0), cols}, r_.mlirType(type));
  return r_.wrap(tile::ViewOp::create(r_.b, r_.at(loc), to, r_.raw(bytes), static_cast<uint32_t>(at)));
}

Value Builder::column(const Value& bytes, int at, Type type, Loc loc) {
  auto t = tensorOr(r_, bytes, "bytes", loc);
  auto to = mlir::RankedTensorType::get({t.getDimSize(0)}, r_.mlirType(type));
  return r_.wrap(tile::ViewOp::create(r_.b, r_.at(loc), to, r_.raw(bytes), static_cast<uint32_t>(at)));
}

Value Builder::bytes(const Value& values, Loc loc) {
  auto t = tensorOr(r_, values, "values", loc);
  const int64_t width = (t.getRank() == 2 ? t.getDimSize(1) : 1) * tile::elementBytes(t.getElementType());
  auto to = mlir::RankedTensorType::get({t.getDimSize(0), width}, r_.b.getI8Type());
  return r_.wrap(tile::ViewOp::create(r_.b, r_.at(loc), to, r_.raw(values), 0u));
}

Value Builder::staged(const Value& value, Loc loc) {
  tensorOr(r_, value, "a staged value", loc);
  return r_.wrap(tile::StagedOp::create(r_.b, r_.at(loc), r_.raw(value)), r_.axisOf(value));
}

Value Builder::dot(std::string_view label, const Value& a, const Value& b, const Value& c, Loc loc) {
  auto ta = tensorOr(r_, a, "a", loc), tb = tensorOr(r_, b, "b", loc);
  if (ta.getRank() != 2 || tb.getRank() != 2) r_.misuse("dot takes matrices", loc);
  mlir::Value acc = r_.expand(r_.materialize(c, r_.b.getF32Type(), loc), {ta.getDimSize(0), tb.getDimSize(1)}, loc);
  return r_.wrap(tile::DotOp::create(r_.b, r_.at(loc), acc.getType(),
                                     r_.b.getStringAttr(llvm::StringRef(label.data(), label.size())), r_.raw(a), r_.raw(b), acc));
}

void Builder::loop(std::string_view name, const Value& from, const Value& to, std::vector<Value>& state,
                   const std::function<void(Value, std::vector<Value>&)>& body, int step, Loc loc) {
  mlir::Location at = r_.at(loc);
  mlir::Type bound_type = r_.b.getI32Type();
  for (const Value* v : {&from, &to})
    if (!v->isLiteral()) bound_type = r_.raw(*v).getType();
  mlir::Value lo = r_.raw(r_.materialize(from, bound_type, loc)), hi = r_.raw(r_.materialize(to, bound_type, loc));
  mlir::Value by = arith::ConstantOp::create(r_.b, at, r_.b.getIntegerAttr(bound_type, step));
  llvm::SmallVector<mlir::Value> init;
  for (Value& v : state) {
    v = r_.materialize(v, r_.mlirType(v.type()), loc);
    init.push_back(r_.raw(v));
  }
  auto loop = mlir::scf::ForOp::create(r_.b, at, lo, hi, by, init);
  loop->setAttr(tile::kLoopAttr, r_.b.getStringAttr(llvm::StringRef(name.data(), name.size())));
  {
    mlir::OpBuilder::InsertionGuard guard(r_.b);
    if (!init.empty() || loop.getBody()->empty())
      r_.b.setInsertionPointToEnd(loop.getBody());
    else
      r_.b.setInsertionPoint(loop.getBody()->getTerminator());
    std::vector<Value> inner;
    for (size_t i = 0; i < state.size(); i++) inner.push_back(r_.wrap(loop.getRegionIterArg(i), r_.axisOf(state[i])));
    body(r_.wrap(loop.getInductionVar()), inner);
    llvm::SmallVector<mlir::Value> out;
    for (size_t i = 0; i < state.size(); i++) {
      auto t = mlir::dyn_cast<mlir::RankedTensorType>(init[i].getType());
      Value v = r_.materialize(inner[i], t ? t.getElementType() : init[i].getType(), loc);
      out.push_back(t && t.getRank() == 2 ? r_.expand(v, t.getShape(), loc) : r_.raw(v));
      if (out.back().getType() != init[i].getType())
        r_.misuse(fmt::format("carried value {} changes its type in loop {}", i, name), loc);
    }
    if (!init.empty()) mlir::scf::YieldOp::create(r_.b, at, out);
  }
  for (size_t i = 0; i < state.size(); i++) state[i] = r_.wrap(loop.getResult(i), r_.axisOf(state[i]));
}

void Builder::when(const Value& condition, const std::function<void()>& body, Loc loc) {
  auto branch = mlir::scf::IfOp::create(r_.b, r_.at(loc), r_.raw(condition), /*withElseRegion=*/false);
  mlir::OpBuilder::InsertionGuard guard(r_.b);
  r_.b.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

std::vector<Value> Builder::ifElse(const Value& condition, const std::function<std::vector<Value>()>& yes,
                                   const std::function<std::vector<Value>()>& no, Loc loc) {
  mlir::Location at = r_.at(loc);
  auto fill = [&](const std::function<std::vector<Value>()>& body) {
    llvm::SmallVector<mlir::Value> out;
    for (const Value& v : body()) out.push_back(r_.raw(r_.materialize(v, r_.mlirType(v.type()), loc)));
    mlir::scf::YieldOp::create(r_.b, at, out);
    return out;
  };
  // Regions are recorded apart first, because the op's result types are those of the first region.
  mlir::Region then_region, else_region;
  mlir::OpBuilder::InsertionGuard guard(r_.b);
  auto ip = r_.b.saveInsertionPoint();
  r_.b.setInsertionPointToEnd(&then_region.emplaceBlock());
  auto a = fill(yes);
  r_.b.setInsertionPointToEnd(&else_region.emplaceBlock());
  auto b = fill(no);
  r_.b.restoreInsertionPoint(ip);
  if (mlir::TypeRange(mlir::ValueRange(a)) != mlir::TypeRange(mlir::ValueRange(b)))
    r_.misuse("the two sides give values of different types", loc);
  auto branch = mlir::scf::IfOp::create(r_.b, at, mlir::TypeRange(mlir::ValueRange(a)), r_.raw(condition), true);
  branch.getThenRegion().takeBody(then_region);
  branch.getElseRegion().takeBody(else_region);
  std::vector<Value> out;
  for (mlir::Value v : branch.getResults()) out.push_back(r_.wrap(v));
  return out;
}

}  // namespace nereid::dsl
