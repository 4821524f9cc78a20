// Ops with loops of their own: memory, reductions, products.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/conversion/cpu/host_lowering.h"

namespace nereid::cpu {
using namespace mlir;

namespace {
constexpr int64_t kRowsAtOnce = 4;  // rows of a dot that share each loaded vector of b
}

Value HostLowering::toI64(Location loc, Value v) {
  return v.getType().isInteger(64) ? v : arith::ExtSIOp::create(b_, loc, b_.getI64Type(), v).getResult();
}

Value HostLowering::address(Location loc, Value base, Value byte_offset) {
  return LLVM::GEPOp::create(b_, loc, LLVM::LLVMPointerType::get(b_.getContext()), b_.getI8Type(), scalar(base),
                             ArrayRef<LLVM::GEPArg>{byte_offset});
}

void HostLowering::lowerLoad(tile::LoadOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getResult());
  Type element = type.getElementType(), stored = storageType(element);
  Value buffer = newBuffer(type);
  forEach(loc, type, 1, [&](Place at) {
    auto load = [&] {
      Value offset = toI64(loc, evaluate(loc, op.getOffsets(), at, 1));
      Value bytes = arith::MulIOp::create(b_, loc, offset,
                                          arith::ConstantOp::create(b_, loc, b_.getI64IntegerAttr(tile::elementBytes(element))));
      return LLVM::LoadOp::create(b_, loc, stored, address(loc, op.getBase(), bytes), 1u).getResult();
    };
    auto store = [&](Value x) {
      SmallVector<Value> indices;
      if (at.i) indices.push_back(at.i);
      indices.push_back(at.j);
      memref::StoreOp::create(b_, loc, x, buffer, indices);
    };
    if (!op.getMask()) return store(load());
    auto branch = scf::IfOp::create(b_, loc, TypeRange(stored), evaluate(loc, op.getMask(), at, 1), true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b_, loc, load());
    b_.setInsertionPointToStart(branch.elseBlock());
    Value other;
    if (op.getOther()) {
      other = evaluate(loc, op.getOther(), at, 1);
      if (element.isInteger(1))
        other = arith::ExtUIOp::create(b_, loc, stored, other);
      else if (stored != element)
        other = arith::BitcastOp::create(b_, loc, stored, other);
    } else {
      other = arith::ConstantOp::create(b_, loc, b_.getZeroAttr(stored));
    }
    scf::YieldOp::create(b_, loc, other);
    b_.setInsertionPointAfter(branch);
    store(branch.getResult(0));
  });
  buffers_[op.getResult()] = buffer;
}

void HostLowering::lowerStore(tile::StoreOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getValue());
  Type element = type.getElementType(), stored = storageType(element);
  // Values first, in vectors; then one store an element that the mask lets through.
  Value values = buffers_.lookup(op.getValue());
  if (!values) {
    values = newBuffer(type);
    storeInto(loc, values, op.getValue());
  }
  forEach(loc, type, 1, [&](Place at) {
    OpBuilder::InsertionGuard guard(b_);
    if (op.getMask())
      b_.setInsertionPointToStart(scf::IfOp::create(b_, loc, evaluate(loc, op.getMask(), at, 1), false).thenBlock());
    Value offset = toI64(loc, evaluate(loc, op.getOffsets(), at, 1));
    Value bytes = arith::MulIOp::create(b_, loc, offset,
                                        arith::ConstantOp::create(b_, loc, b_.getI64IntegerAttr(tile::elementBytes(element))));
    SmallVector<Value> indices;
    if (at.i) indices.push_back(at.i);
    indices.push_back(at.j);
    LLVM::StoreOp::create(b_, loc, memref::LoadOp::create(b_, loc, stored, values, indices), address(loc, op.getBase(), bytes),
                          1u);
  });
}

// The address of row i of a byte buffer.
static Value rowPointer(OpBuilder& b, Location loc, Value buffer, Value i, int64_t width) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  Value offset = arith::MulIOp::create(b, loc, i, arith::ConstantIndexOp::create(b, loc, width));
  Value at = arith::IndexCastOp::create(b, loc, b.getI64Type(), arith::AddIOp::create(b, loc, base, offset));
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), at);
}

void HostLowering::lowerGather(tile::GatherRowsOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getResult());
  const int64_t width = type.getDimSize(1);
  Value buffer = newBuffer(type);
  loop(loc, type.getDimSize(0), 1, [&](Value i) {
    Value row = rowPointer(b_, loc, buffer, i, width);
    auto branch = scf::IfOp::create(b_, loc, TypeRange(), evaluate(loc, op.getMask(), {Value(), i}, 1), true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    Value from = address(loc, op.getBase(), evaluate(loc, op.getOffsets(), {Value(), i}, 1));
    LLVM::MemcpyInlineOp::create(b_, loc, row, from, b_.getI64IntegerAttr(width), false);
    b_.setInsertionPointToStart(branch.elseBlock());
    LLVM::MemsetInlineOp::create(b_, loc, row, arith::ConstantOp::create(b_, loc, b_.getI8IntegerAttr(0)),
                                 b_.getI64IntegerAttr(width), false);
  });
  buffers_[op.getResult()] = buffer;
}

void HostLowering::lowerScatter(tile::ScatterRowsOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getValue());
  const int64_t width = type.getDimSize(1);
  Value buffer = bufferOf(op.getValue());
  loop(loc, type.getDimSize(0), 1, [&](Value i) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(scf::IfOp::create(b_, loc, evaluate(loc, op.getMask(), {Value(), i}, 1), false).thenBlock());
    Value to = address(loc, op.getBase(), evaluate(loc, op.getOffsets(), {Value(), i}, 1));
    LLVM::MemcpyInlineOp::create(b_, loc, to, rowPointer(b_, loc, buffer, i, width), b_.getI64IntegerAttr(width), false);
  });
}

// Values as bytes: the same memory, row by row.
void HostLowering::lowerBytes(tile::ViewOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getResult());
  Value from = bufferOf(op.getValue()), buffer = newBuffer(type);
  const int64_t width = type.getDimSize(1);
  loop(loc, type.getDimSize(0), 1, [&](Value i) {
    LLVM::MemcpyInlineOp::create(b_, loc, rowPointer(b_, loc, buffer, i, width), rowPointer(b_, loc, from, i, width),
                                 b_.getI64IntegerAttr(width), false);
  });
  buffers_[op.getResult()] = buffer;
}

void HostLowering::lowerTrans(tile::TransOp op) {
  // A product reads through the transposition; anything else gets the transposed buffer.
  if (llvm::all_of(op->getUsers(), [&](Operation* user) { return isa<tile::DotOp>(user); })) return;
  Location loc = op.getLoc();
  auto type = tensorOf(op.getValue());
  Value buffer = newBuffer(tensorOf(op.getResult()));
  forEach(loc, type, 1, [&](Place at) { writeBuffer(loc, buffer, evaluate(loc, op.getValue(), at, 1), {at.j, at.i}); });
  buffers_[op.getResult()] = buffer;
}

Value HostLowering::combine(Location loc, tile::ReduceKind kind, Value a, Value b) {
  const bool is_float = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
    case tile::ReduceKind::Add:
      return is_float ? arith::AddFOp::create(b_, loc, a, b).getResult() : arith::AddIOp::create(b_, loc, a, b).getResult();
    case tile::ReduceKind::Max:
      return is_float ? arith::MaxNumFOp::create(b_, loc, a, b).getResult() : arith::MaxSIOp::create(b_, loc, a, b).getResult();
    case tile::ReduceKind::Min:
      return is_float ? arith::MinNumFOp::create(b_, loc, a, b).getResult() : arith::MinSIOp::create(b_, loc, a, b).getResult();
    case tile::ReduceKind::Or: return arith::OrIOp::create(b_, loc, a, b);
  }
  return a;
}

void HostLowering::lowerReduce(tile::ReduceOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getValue());
  const tile::ReduceKind kind = op.getKind();
  const int64_t width = widthOf(type), columns = type.getShape().back();
  auto lanes = [&](Value v) {
    if (width == 1) return v;
    SmallVector<Value> xs;
    for (int64_t k = 0; k < width; k++) xs.push_back(vector::ExtractOp::create(b_, loc, v, k));
    while (xs.size() > 1) {
      SmallVector<Value> next;
      for (size_t k = 0; k < xs.size(); k += 2) next.push_back(combine(loc, kind, xs[k], xs[k + 1]));
      xs = next;
    }
    return xs[0];
  };
  // Joins chunk 0 with the chunks after it.
  auto chain = [&](int64_t count, int64_t step, llvm::function_ref<Value(Value)> at) {
    Value first = at(index(loc, 0));
    if (count <= step) return first;
    auto made = scf::ForOp::create(b_, loc, index(loc, step), index(loc, count), index(loc, step), ValueRange(first));
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(made.getBody());
    scf::YieldOp::create(b_, loc, combine(loc, kind, made.getRegionIterArg(0), at(made.getInductionVar())));
    return made.getResult(0);
  };
  if (type.getRank() == 1) {
    Value all = chain(columns, width, [&](Value j) { return evaluate(loc, op.getValue(), {Value(), j}, width); });
    scalars_.map(op.getResult(), lanes(all));
    return;
  }
  auto result = tensorOf(op.getResult());
  Value buffer = newBuffer(result);
  if (op.getDim() == 1) {
    loop(loc, type.getDimSize(0), 1, [&](Value i) {
      Value row = chain(columns, width, [&](Value j) { return evaluate(loc, op.getValue(), {i, j}, width); });
      writeBuffer(loc, buffer, lanes(row), {Value(), i});
    });
  } else {
    loop(loc, columns, width, [&](Value j) {
      Value column = chain(type.getDimSize(0), 1, [&](Value i) { return evaluate(loc, op.getValue(), {i, j}, width); });
      writeBuffer(loc, buffer, column, {Value(), j});
    });
  }
  buffers_[op.getResult()] = buffer;
}

// An operand of a product as f32 [rows, columns]; a transposition is undone on the way.
Value HostLowering::operandF32(Location loc, Value v) {
  auto type = tensorOf(v);
  Value buffer = newBuffer(type, b_.getF32Type());
  auto trans = v.getDefiningOp<tile::TransOp>();
  Value source = trans && !buffers_.count(v) ? trans.getValue() : v;
  const bool turned = source != v;
  auto source_type = tensorOf(source);
  const int64_t width = widthOf(source_type);
  forEach(loc, source_type, width, [&](Place at) {
    Value x = evaluate(loc, source, at, width);
    if (!type.getElementType().isF32())
      x = arith::ExtFOp::create(b_, loc, width == 1 ? Type(b_.getF32Type()) : VectorType::get({width}, b_.getF32Type()), x);
    if (!turned) return writeBuffer(loc, buffer, x, at);
    for (int64_t k = 0; k < width; k++) {
      Value e = width == 1 ? x : vector::ExtractOp::create(b_, loc, x, k).getResult();
      writeBuffer(loc, buffer, e, {arith::AddIOp::create(b_, loc, at.j, index(loc, k)), at.i});
    }
  });
  return buffer;
}

void HostLowering::lowerDot(tile::DotOp op) {
  Location loc = op.getLoc();
  auto type = tensorOf(op.getResult());
  const int64_t m = type.getDimSize(0), n = type.getDimSize(1), k = tensorOf(op.getA()).getDimSize(1);
  Value a = operandF32(loc, op.getA()), b = operandF32(loc, op.getB()), out = newBuffer(type);
  const int64_t width = widthOf(type), rows = m % kRowsAtOnce ? 1 : kRowsAtOnce;
  Type f32 = b_.getF32Type();
  loop(loc, m, rows, [&](Value i) {
    loop(loc, n, width, [&](Value j) {
      SmallVector<Value> sums, row;
      for (int64_t r = 0; r < rows; r++) {
        row.push_back(arith::AddIOp::create(b_, loc, i, index(loc, r)));
        sums.push_back(evaluate(loc, op.getC(), {row[r], j}, width));
      }
      auto made = scf::ForOp::create(b_, loc, index(loc, 0), index(loc, k), index(loc, 1), sums);
      {
        OpBuilder::InsertionGuard guard(b_);
        b_.setInsertionPointToEnd(made.getBody());
        Value bv = readBuffer(loc, b, f32, {made.getInductionVar(), j}, width);
        SmallVector<Value> next;
        for (int64_t r = 0; r < rows; r++) {
          Value x = memref::LoadOp::create(b_, loc, a, ValueRange{row[r], made.getInductionVar()});
          if (width > 1) x = vector::BroadcastOp::create(b_, loc, VectorType::get({width}, f32), x);
          // Fused where the CPU has it.
          next.push_back(LLVM::FMulAddOp::create(b_, loc, x, bv, made.getRegionIterArg(r)));
        }
        scf::YieldOp::create(b_, loc, next);
      }
      for (int64_t r = 0; r < rows; r++) writeBuffer(loc, out, made.getResult(r), {row[r], j});
    });
  });
  buffers_[op.getResult()] = out;
}

void HostLowering::lowerTicket(tile::TicketOp op) {
  Location loc = op.getLoc();
  Value one = arith::ConstantOp::create(b_, loc, b_.getI32IntegerAttr(1));
  Value last = arith::SubIOp::create(b_, loc, scalar(op.getLimit()), one);
  scalars_.map(op.getResult(), LLVM::AtomicRMWOp::create(b_, loc, LLVM::AtomicBinOp::uinc_wrap, scalar(op.getCounter()), last,
                                                         LLVM::AtomicOrdering::acq_rel));
}

}  // namespace nereid::cpu
