// Elements of tiles: read from a buffer, or computed where they are used.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/conversion/cpu/host_lowering.h"

namespace nereid::cpu {
using namespace mlir;

namespace {
constexpr int64_t kWidth = 16;  // elements of a chunk: one AVX-512 register of f32
constexpr int64_t kBufferAlign = 64;

bool isElementwise(Operation* op) {
  return op && isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op);
}

bool isFp8(Type t) { return isa<FloatType>(t) && t.getIntOrFloatBitWidth() == 8; }

Type vectorOf(Type element, int64_t width) { return width == 1 ? element : Type(VectorType::get({width}, element)); }
}  // namespace

Type storageType(Type element) {
  if (element.isInteger(1) || isFp8(element)) return IntegerType::get(element.getContext(), 8);
  return element;
}

bool isByteRows(Value v) { return tensorOf(v).getRank() == 2 && tensorOf(v).getElementType().isInteger(8); }

RankedTensorType tensorOf(Value v) { return cast<RankedTensorType>(v.getType()); }

Value HostLowering::index(Location loc, int64_t x) { return arith::ConstantIndexOp::create(b_, loc, x); }

int64_t HostLowering::widthOf(RankedTensorType type) {
  const int64_t n = type.getShape().back();
  int64_t width = kWidth;
  while (n % width) width /= 2;
  return width;
}

Value HostLowering::newBuffer(RankedTensorType type, Type element) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(entry_);
  auto t = MemRefType::get(type.getShape(), storageType(element ? element : type.getElementType()));
  return memref::AllocaOp::create(b_, func_.getLoc(), t, b_.getI64IntegerAttr(kBufferAlign));
}

void HostLowering::loop(Location loc, int64_t count, int64_t step, llvm::function_ref<void(Value)> body) {
  if (count <= step) return body(index(loc, 0));
  auto made = scf::ForOp::create(b_, loc, index(loc, 0), index(loc, count), index(loc, step));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(made.getBody()->getTerminator());
  body(made.getInductionVar());
}

void HostLowering::forEach(Location loc, RankedTensorType type, int64_t width, llvm::function_ref<void(Place)> body) {
  if (type.getRank() == 1) return loop(loc, type.getDimSize(0), width, [&](Value j) { body({Value(), j}); });
  loop(loc, type.getDimSize(0), 1, [&](Value i) { loop(loc, type.getDimSize(1), width, [&](Value j) { body({i, j}); }); });
}

Value HostLowering::readBuffer(Location loc, Value buffer, Type element, Place at, int64_t width) {
  SmallVector<Value> indices;
  if (at.i) indices.push_back(at.i);
  indices.push_back(at.j);
  Type stored = storageType(element);
  Value x = width == 1 ? memref::LoadOp::create(b_, loc, buffer, indices).getResult()
                       : vector::LoadOp::create(b_, loc, VectorType::get({width}, stored), buffer, indices).getResult();
  if (element.isInteger(1)) return arith::TruncIOp::create(b_, loc, vectorOf(element, width), x);
  if (isFp8(element)) return arith::BitcastOp::create(b_, loc, vectorOf(element, width), x);
  return x;
}

void HostLowering::writeBuffer(Location loc, Value buffer, Value x, Place at) {
  Type element = getElementTypeOrSelf(x.getType());
  auto v = dyn_cast<VectorType>(x.getType());
  Type stored = vectorOf(storageType(element), v ? v.getNumElements() : 1);
  if (element.isInteger(1))
    x = arith::ExtUIOp::create(b_, loc, stored, x);
  else if (isFp8(element))
    x = arith::BitcastOp::create(b_, loc, stored, x);
  SmallVector<Value> indices;
  if (at.i) indices.push_back(at.i);
  indices.push_back(at.j);
  if (v)
    vector::StoreOp::create(b_, loc, x, buffer, indices);
  else
    memref::StoreOp::create(b_, loc, x, buffer, indices);
}

// A value that gets no buffer: cheap ones always, arithmetic if its one use is other arithmetic or a loop over the same elements.
bool HostLowering::isInline(Value v) {
  Operation* op = v.getDefiningOp();
  if (!op) return false;
  if (isa<arith::ConstantOp, tile::SplatOp, tile::RangeOp, tile::BroadcastOp>(op)) return true;
  if (auto view = dyn_cast<tile::ViewOp>(op)) return isByteRows(view.getValue());
  if (!isElementwise(op) || !v.hasOneUse()) return false;
  Operation* user = *v.getUsers().begin();
  if (user->getBlock() != op->getBlock()) return false;
  return isElementwise(user) || isa<tile::ReduceOp, tile::DotOp, tile::StoreOp>(user);
}

void HostLowering::materialize(Value v) {
  Value buffer = newBuffer(tensorOf(v));
  Operation* op = v.getDefiningOp();
  forEach(op->getLoc(), tensorOf(v), widthOf(tensorOf(v)), [&](Place at) {
    // The buffer is registered after the loop, so that its elements are computed here and not read.
    writeBuffer(op->getLoc(), buffer, evaluate(op->getLoc(), v, at, widthOf(tensorOf(v))), at);
  });
  buffers_[v] = buffer;
}

void HostLowering::storeInto(Location loc, Value buffer, Value v) {
  if (Value from = buffers_.lookup(v)) {
    memref::CopyOp::create(b_, loc, from, buffer);
    return;
  }
  const int64_t width = widthOf(tensorOf(v));
  forEach(loc, tensorOf(v), width, [&](Place at) { writeBuffer(loc, buffer, evaluate(loc, v, at, width), at); });
}

Value HostLowering::bufferOf(Value v) {
  if (!buffers_.count(v)) materialize(v);
  return buffers_[v];
}

Value HostLowering::evaluate(Location loc, Value v, Place at, int64_t width) {
  auto type = tensorOf(v);
  Type element = type.getElementType();
  if (Value buffer = buffers_.lookup(v)) return readBuffer(loc, buffer, element, at, width);
  Operation* op = v.getDefiningOp();
  Type out = vectorOf(element, width);
  // After a refusal the walk goes on to its end; zeros keep the IR valid until then.
  auto refuse = [&](std::string what) -> Value {
    fail(op, std::move(what));
    return arith::ConstantOp::create(b_, loc, b_.getZeroAttr(out));
  };
  auto spread = [&](Value x) -> Value { return width == 1 ? x : vector::BroadcastOp::create(b_, loc, out, x).getResult(); };
  if (auto c = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(c.getValue());
    if (!splat) return refuse("a constant tile with different elements");
    Value x = arith::ConstantOp::create(b_, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    return spread(x);
  }
  if (auto s = dyn_cast<tile::SplatOp>(op)) return spread(scalar(s.getValue()));
  if (auto r = dyn_cast<tile::RangeOp>(op)) {
    Value first = arith::IndexCastOp::create(b_, loc, b_.getI32Type(), at.j);
    first = arith::AddIOp::create(b_, loc, first,
                                  arith::ConstantOp::create(b_, loc, b_.getI32IntegerAttr(static_cast<int32_t>(r.getStart()))));
    if (width == 1) return first;
    SmallVector<int32_t> steps(width);
    for (int64_t k = 0; k < width; k++) steps[k] = static_cast<int32_t>(k);
    Value iota = arith::ConstantOp::create(
        b_, loc, DenseElementsAttr::get(VectorType::get({width}, b_.getI32Type()), ArrayRef<int32_t>(steps)));
    return arith::AddIOp::create(b_, loc, spread(first), iota);
  }
  if (auto bc = dyn_cast<tile::BroadcastOp>(op)) {
    if (bc.getDim() == 1) return evaluate(loc, bc.getValue(), {Value(), at.j}, width);
    return spread(evaluate(loc, bc.getValue(), {Value(), at.i}, 1));
  }
  if (auto view = dyn_cast<tile::ViewOp>(op)) return evaluateView(loc, view, at, width);
  if (!isElementwise(op)) return refuse("a tile is used before it has a buffer");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType()) ? evaluate(loc, operand, at, width) : spread(scalar(operand)));
  OperationState state(op->getLoc(), op->getName(), operands, TypeRange(out), op->getAttrs());
  return b_.create(state)->getResult(0);
}

// Bytes of gathered rows as values.
Value HostLowering::evaluateView(Location loc, tile::ViewOp view, Place at, int64_t width) {
  Value bytes = bufferOf(view.getValue());
  Type element = tensorOf(view.getResult()).getElementType();
  const int64_t size = tile::elementBytes(element);
  auto one = [&](Value row, Value byte) -> Value {
    if (size == 1) {
      Value x = memref::LoadOp::create(b_, loc, bytes, ValueRange{row, byte});
      return storageType(element) == element ? x : arith::BitcastOp::create(b_, loc, element, x).getResult();
    }
    Value raw = vector::LoadOp::create(b_, loc, VectorType::get({size}, b_.getI8Type()), bytes, ValueRange{row, byte});
    Value x = vector::BitCastOp::create(b_, loc, VectorType::get({1}, element), raw);
    return vector::ExtractOp::create(b_, loc, x, 0);
  };
  if (!at.i) {  // one value a row
    Value byte = index(loc, view.getAt());
    if (width == 1) return one(at.j, byte);
    SmallVector<Value> xs;
    for (int64_t k = 0; k < width; k++) xs.push_back(one(arith::AddIOp::create(b_, loc, at.j, index(loc, k)), byte));
    return vector::FromElementsOp::create(b_, loc, VectorType::get({width}, element), xs);
  }
  Value byte = arith::AddIOp::create(b_, loc, arith::MulIOp::create(b_, loc, at.j, index(loc, size)), index(loc, view.getAt()));
  if (width == 1) return one(at.i, byte);
  Value raw = vector::LoadOp::create(b_, loc, VectorType::get({width * size}, b_.getI8Type()), bytes, ValueRange{at.i, byte});
  auto out = VectorType::get({width}, element);
  if (size == 1) return storageType(element) == element ? raw : arith::BitcastOp::create(b_, loc, out, raw).getResult();
  return vector::BitCastOp::create(b_, loc, out, raw);
}

}  // namespace nereid::cpu
