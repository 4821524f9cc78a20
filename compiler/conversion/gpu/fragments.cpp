// Fragments: packing of elements into registers, and where a thread's elements lie.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "compiler/conversion/gpu/lowering.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Layout;

int Lowering::packOf(Type element, int registers) {
  const int bits = element.isInteger(1) ? 32 : static_cast<int>(element.getIntOrFloatBitWidth());
  return bits >= 32 ? 1 : std::min(32 / bits, registers);
}

Type Lowering::scalarOf(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8 ? Type(b_.getI8Type()) : element;
}

Type Lowering::storageOf(Type element, int pack) {
  if (pack == 1) return scalarOf(element);
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16) return VectorType::get({pack}, element);
  return b_.getIntegerType(pack * element.getIntOrFloatBitWidth());
}

SmallVector<Type> Lowering::fragmentTypes(RankedTensorType type) {
  const int registers = tile::layoutOf(type)->registers();
  const int pack = packOf(type.getElementType(), registers);
  return SmallVector<Type>(registers / pack, storageOf(type.getElementType(), pack));
}

Fragment Lowering::unpack(Location loc, const Fragment& f, Type element, int registers) {
  const int pack = packOf(element, registers);
  if (pack == 1) return f;
  Fragment out;
  Type scalar = scalarOf(element);
  for (Value word : f) {
    if (isa<VectorType>(word.getType())) {
      for (int i = 0; i < pack; i++) out.push_back(vector::ExtractOp::create(b_, loc, word, i));
      continue;
    }
    const int bits = scalar.getIntOrFloatBitWidth();
    for (int i = 0; i < pack; i++) {
      Value shifted = i ? arith::ShRUIOp::create(b_, loc, word,
                                                 arith::ConstantOp::create(b_, loc, b_.getIntegerAttr(word.getType(), i * bits)))
                        : word;
      out.push_back(arith::TruncIOp::create(b_, loc, scalar, shifted));
    }
  }
  return out;
}

Fragment Lowering::pack(Location loc, const Fragment& scalars, Type element) {
  const int pack = packOf(element, static_cast<int>(scalars.size()));
  if (pack == 1) return scalars;
  Fragment out;
  Type storage = storageOf(element, pack);
  for (size_t i = 0; i < scalars.size(); i += pack) {
    if (auto v = dyn_cast<VectorType>(storage)) {
      out.push_back(vector::FromElementsOp::create(b_, loc, v, ArrayRef<Value>(scalars).slice(i, pack)));
      continue;
    }
    Value word;
    for (int k = 0; k < pack; k++) {
      Value x = arith::ExtUIOp::create(b_, loc, storage, scalars[i + k]);
      if (k)
        x = arith::ShLIOp::create(
            b_, loc, x, arith::ConstantOp::create(b_, loc, b_.getIntegerAttr(storage, k * element.getIntOrFloatBitWidth())));
      word = word ? arith::OrIOp::create(b_, loc, word, x) : x;
    }
    out.push_back(word);
  }
  return out;
}

Value Lowering::wordToStorage(Location loc, Value word, Type storage) {
  return word.getType() == storage ? word : LLVM::BitcastOp::create(b_, loc, storage, word).getResult();
}

Value Lowering::storageToWord(Location loc, Value storage) {
  if (isa<IntegerType>(storage.getType())) return storage;
  int bits = 0;
  if (auto v = dyn_cast<VectorType>(storage.getType()))
    bits = v.getNumElements() * v.getElementType().getIntOrFloatBitWidth();
  else
    bits = storage.getType().getIntOrFloatBitWidth();
  return LLVM::BitcastOp::create(b_, loc, b_.getIntegerType(bits), storage);
}

const Fragment& Lowering::get(Value v) {
  auto it = fragments_.find(v);
  if (it == fragments_.end()) {
    Operation* op = v.getDefiningOp();
    fail(op ? op : func_.getOperation(), "a tile is used before it is lowered", "report this program");
    return fragments_[v];
  }
  return it->second;
}

void Lowering::set(Value v, Fragment f) { fragments_[v] = std::move(f); }

Value Lowering::scalar(Value v) { return scalars_.lookupOrDefault(v); }

Layout Lowering::layoutOf(Value v) {
  if (auto l = tile::layoutOf(v.getType())) return *l;
  fail(v.getDefiningOp() ? v.getDefiningOp() : func_.getOperation(), "a tile has no layout", "report this program");
  return Layout{.rank = cast<RankedTensorType>(v.getType()).getRank() == 2 ? 2 : 1,
                .lane = std::vector<layout::Coord>(5, layout::Coord(2, 0))};
}

// Σ bit_i(bits) · bases[i][dim], with runs of doubling bases taken as one field.
Value Lowering::weighted(Location loc, Value bits, const std::vector<layout::Coord>& bases, int dim) {
  Value sum;
  for (size_t i = 0; i < bases.size();) {
    const int step = bases[i][dim];
    if (step == 0) {
      i++;
      continue;
    }
    size_t run = 1;
    while (i + run < bases.size() && bases[i + run][dim] == step << run) run++;
    Value field = bits;
    if (i) field = arith::ShRUIOp::create(b_, loc, field, i32(loc, i));
    field = arith::AndIOp::create(b_, loc, field, i32(loc, (1 << run) - 1));
    field = mulConstant(loc, field, step);
    sum = sum ? add(loc, sum, field) : field;
    i += run;
  }
  return sum;
}

Value Lowering::coordinate(Location loc, const Layout& l, int dim) {
  Value a = weighted(loc, lane_, l.lane, dim), w = weighted(loc, group_.warp, l.warp, dim);
  if (a && w) return add(loc, a, w);
  if (a || w) return a ? a : w;
  return i32(loc, 0);
}

Value Lowering::owns(Location loc, const Layout& l) {
  auto copies = [](const std::vector<layout::Coord>& bases) {
    int mask = 0;
    for (size_t i = 0; i < bases.size(); i++)
      if (llvm::all_of(bases[i], [](int x) { return x == 0; })) mask |= 1 << i;
    return mask;
  };
  Value ok;
  auto check = [&](Value bits, int mask) {
    if (!mask) return;
    Value first = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, arith::AndIOp::create(b_, loc, bits, i32(loc, mask)),
                                        i32(loc, 0));
    ok = ok ? arith::AndIOp::create(b_, loc, ok, first) : first;
  };
  check(lane_, copies(l.lane));
  check(group_.warp, copies(l.warp) & ~static_cast<int>(l.partial));
  return ok;
}

Value Lowering::add(Location loc, Value a, Value b) { return arith::AddIOp::create(b_, loc, a, b); }

Value Lowering::addConstant(Location loc, Value a, int x) {
  return x ? arith::AddIOp::create(b_, loc, a, arith::ConstantOp::create(b_, loc, b_.getIntegerAttr(a.getType(), x))).getResult()
           : a;
}

Value Lowering::mulConstant(Location loc, Value a, int x) {
  return x == 1 ? a
                : arith::MulIOp::create(b_, loc, a, arith::ConstantOp::create(b_, loc, b_.getIntegerAttr(a.getType(), x)))
                      .getResult();
}

Value Lowering::gep(Location loc, Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b_, loc, pointer.getType(), b_.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
}

Value Lowering::gep(Location loc, Value pointer, int bytes) {
  if (!bytes) return pointer;
  return LLVM::GEPOp::create(b_, loc, pointer.getType(), b_.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
}

Value Lowering::sharedAddress(Location loc, int offset) { return gep(loc, shared_base_, offset); }

Value Lowering::global(Location loc, Value pointer) {
  auto type = LLVM::LLVMPointerType::get(b_.getContext(), 1);
  return LLVM::AddrSpaceCastOp::create(b_, loc, type, scalar(pointer));
}

int Lowering::allocate(int bytes, int align) {
  shared_bytes_ = (shared_bytes_ + align - 1) / align * align;
  const int at = shared_bytes_;
  shared_bytes_ += bytes;
  return at;
}

Value Lowering::scratch(Location loc, int bytes) {
  constexpr int kAlign = 16;
  bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  Value at = sharedAddress(loc, allocate(group_.groups * bytes, kAlign));
  return group_.index ? gep(loc, at, mulConstant(loc, group_.index, bytes)) : at;
}

Operation* Lowering::groupBarrier(Location loc) {
  if (group_.warps == 1) return nv_.syncWarp(loc);
  Value id = i32(loc, group_.barrier);
  return nv_.barrier(loc, group_.index ? add(loc, id, group_.index) : id, group_.warps * 32);
}

// Scratch belongs to one exchange, so only the next iteration of a loop writes it again. The barrier before the write, for those
// that still read, is not needed where another exchange in the same block has one that all warps pass in between.
void Lowering::removeReuseBarriers() {
  auto inLoop = [](Operation* op) { return op->getParentOfType<scf::ForOp>() || op->getParentOfType<scf::WhileOp>(); };
  for (auto [reuse, ready] : exchange_barriers_) {
    const bool other = llvm::any_of(exchange_barriers_, [&, own = ready](const auto& x) {
      return x.second != own && x.second->getBlock() == own->getBlock();
    });
    if (!inLoop(reuse) || (isa<scf::ForOp>(reuse->getParentOp()) && other)) reuse->erase();
  }
}

}  // namespace nereid::gpu
