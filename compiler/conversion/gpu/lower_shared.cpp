// Shared memory and changes of layout: views, ldmatrix and plain loads, exchange through scratch, sums of partials.
#include <map>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/conversion/gpu/lowering.h"
#include "compiler/transforms/assign_layouts.h"

namespace nereid::gpu {
using namespace mlir;
using layout::Coord;
using layout::Layout;

namespace {

// ldmatrix in the transposed form puts the bytes of two rows and two columns as r0c0 r0c1 r1c0 r1c1. Operands of two bytes are
// made from r0c0 r1c0 r0c1 r1c1; those of one byte are the same column of two words.
constexpr uint32_t kSwapMiddleBytes = 0x3120, kEvenBytes = 0x6420, kOddBytes = 0x7531;

// Which tensor dimension runs along rows and which along bytes in shared memory.
struct Axes {
  int row = 0, col = 1;
};

Axes axesOf(const SharedTile& t) { return t.column_major ? Axes{1, 0} : Axes{0, 1}; }

int lowBit(int x) { return x ? x & -x : 1 << 20; }

// True if basis c is `step` along dimension d and zero elsewhere.
bool isStep(const Coord& c, int d, int step) {
  for (int i = 0; i < static_cast<int>(c.size()); i++)
    if (c[i] != (i == d ? step : 0)) return false;
  return true;
}

}  // namespace

void Lowering::lowerView(tile::ViewOp op) {
  auto it = shared_.find(op.getValue());
  if (it == shared_.end()) {
    return fail(op, "a view of a tile in registers", "store the values, or view gathered rows");
  }
  SharedTile t = it->second;
  if (t.addends > 1) return fail(op, "a view of a tile that is stored as addends", "use the value, not its bytes");
  t.offset += static_cast<int>(op.getAt());
  t.type = cast<RankedTensorType>(op.getType());
  shared_[op.getResult()] = t;
}

void Lowering::lowerTrans(tile::TransOp op) {
  if (auto it = shared_.find(op.getValue()); it != shared_.end()) {
    SharedTile t = it->second;
    t.column_major = !t.column_major;
    t.type = cast<RankedTensorType>(op.getType());
    shared_[op.getResult()] = t;
    return;
  }
  set(op.getResult(), get(op.getValue()));  // the layout is the transposed one
}

std::optional<Fragment> Lowering::loadMatrices(Location loc, const SharedTile& t, const Layout& l) {
  if (auto f = loadPairedMatrices(loc, t, l)) return f;
  return matrixWords(loc, t, l, true);
}

// Bytes whose words run along the rows of memory that transposed matrices give as two columns of two rows: a word is one column
// of two matrices, 8 rows apart.
std::optional<Fragment> Lowering::loadPairedMatrices(Location loc, const SharedTile& t, const Layout& l) {
  const Axes a = axesOf(t);
  if (t.type.getRank() != 2 || tile::elementBytes(t.type.getElementType()) != 1 || l.reg.size() < 3) return std::nullopt;
  const auto column = llvm::find_if(l.reg, [&](const Coord& c) { return isStep(c, a.col, 1); });
  if (!isStep(l.reg[0], a.row, 1) || !isStep(l.reg[1], a.row, 8) || column == l.reg.end()) return std::nullopt;
  Layout memory = l;
  memory.reg.erase(memory.reg.begin() + (column - l.reg.begin()));
  memory.reg.insert(memory.reg.begin() + 1, *column);
  auto words = matrixWords(loc, t, memory, false);
  if (!words) return std::nullopt;
  Fragment out;
  for (int r = 0; r < l.registers(); r += 4) {
    Coord c = l.regOffset(r);
    const bool odd = c[a.col] % 2;
    c[a.col] -= odd;
    const int first = *memory.registerAt(c) / 4;  // the matrix 8 rows on is the next word
    out.push_back(nv_.permute(loc, (*words)[first], (*words)[first + 1], odd ? kOddBytes : kEvenBytes));
  }
  return out;
}

// Words that ldmatrix can fill: 8 rows of 16 bytes a matrix, four matrices an instruction where their places are regular.
// `swap_bytes`: a transposed word of bytes has two rows of a column side by side.
std::optional<Fragment> Lowering::matrixWords(Location loc, const SharedTile& t, const Layout& l, bool swap_bytes) {
  if (t.type.getRank() != 2 || t.pitch % 16 || t.offset % 16) return std::nullopt;
  const int size = tile::elementBytes(t.type.getElementType());
  if (size > 2 || t.type.getElementType().isInteger(1)) return std::nullopt;
  const Axes a = axesOf(t);
  const int per_word = 4 / size;
  if (l.registers() < per_word) return std::nullopt;
  const int unit = 2 / size;  // elements of a 16-bit unit
  bool plain = isStep(l.lane[0], a.col, per_word) && isStep(l.lane[1], a.col, 2 * per_word) && isStep(l.lane[2], a.row, 1) &&
               isStep(l.lane[3], a.row, 2) && isStep(l.lane[4], a.row, 4);
  for (int i = 0; plain && (1 << i) < per_word; i++) plain = isStep(l.reg[i], a.col, 1 << i);
  bool transposed = isStep(l.lane[0], a.row, 2) && isStep(l.lane[1], a.row, 4) && isStep(l.lane[2], a.col, unit) &&
                    isStep(l.lane[3], a.col, 2 * unit) && isStep(l.lane[4], a.col, 4 * unit) && isStep(l.reg[0], a.row, 1) &&
                    (size == 2 || isStep(l.reg[1], a.col, 1));
  if (!plain && !transposed) return std::nullopt;

  const int words = l.registers() / per_word;
  SmallVector<int> place;  // byte offset of each word's matrix
  for (int w = 0; w < words; w++) {
    const Coord c = l.regOffset(w * per_word);
    if (c[a.col] * size % 16) return std::nullopt;
    place.push_back(c[a.row] * t.pitch + c[a.col] * size);
  }
  for (const Coord& c : l.warp)
    if (c[a.col] * size % 16) return std::nullopt;
  auto regular = [&](int w, int n) {
    if (w + n > words) return false;
    if (n == 4) return place[w + 3] - place[w + 2] == place[w + 1] - place[w];
    return true;
  };
  // Warp part and the row of this lane.
  Value warp_part = i32(loc, 0);
  if (Value r = weighted(loc, group_.warp, l.warp, a.row)) warp_part = add(loc, warp_part, mulConstant(loc, r, t.pitch));
  if (Value c = weighted(loc, group_.warp, l.warp, a.col)) warp_part = add(loc, warp_part, mulConstant(loc, c, size));
  Value row = mulConstant(loc, arith::AndIOp::create(b_, loc, lane_, i32(loc, 7)), t.pitch);
  Value common = add(loc, warp_part, row);
  std::map<std::pair<int, int>, Value> bases;  // (step of lane bit 3, step of lane bit 4) → address
  auto baseFor = [&](int d0, int d1) {
    Value& v = bases[{d0, d1}];
    if (v) return v;
    Value offset = common;
    auto bit = [&](int shift, int step) {
      if (!step) return;
      Value x = arith::AndIOp::create(b_, loc, arith::ShRUIOp::create(b_, loc, lane_, i32(loc, shift)), i32(loc, 1));
      offset = add(loc, offset, mulConstant(loc, x, step));
    };
    bit(3, d0);
    bit(4, d1);
    return v = gep(loc, t.base, offset);
  };
  Fragment out(words);
  Type storage = storageOf(t.type.getElementType(), per_word);
  for (int w = 0; w < words;) {
    const int n = regular(w, 4) ? 4 : regular(w, 2) ? 2 : 1;
    const int d0 = n > 1 ? place[w + 1] - place[w] : 0, d1 = n > 2 ? place[w + 2] - place[w] : 0;
    auto got = nv_.ldmatrix(loc, gep(loc, baseFor(d0, d1), t.offset + place[w]), n, transposed);
    for (int i = 0; i < n; i++) {
      Value word = got[i];
      if (transposed && size == 1 && swap_bytes) word = nv_.permute(loc, word, word, kSwapMiddleBytes);
      out[w + i] = wordToStorage(loc, word, storage);
    }
    w += n;
  }
  return out;
}

Fragment Lowering::loadShared(Location loc, const SharedTile& t, const Layout& l) {
  if (auto f = loadMatrices(loc, t, l)) return *f;
  Type element = t.type.getElementType();
  const int size = tile::elementBytes(element), rank = t.type.getRank();
  const Axes a = rank == 1 ? Axes{0, -1} : axesOf(t);
  // The dimension that is contiguous in memory: columns, or a vector whose rows follow each other.
  const int along = rank == 2 ? a.col : t.pitch == size ? 0 : -1;
  int width = 1;
  if (along >= 0)
    while (width * size < 16 && width < l.registers() && isStep(l.reg[llvm::Log2_32(width)], along, width)) width *= 2;
  auto aligned = [&](int bytes) {
    bool ok = lowBit(t.offset) >= bytes && (rank == 1 || lowBit(t.pitch) >= bytes);
    for (auto* bases : {&l.reg, &l.lane, &l.warp})
      for (const Coord& c : *bases)
        if (along >= 0 && c[along] >= width) ok &= c[along] * size % bytes == 0;
    return ok;
  };
  while (width > 1 && !aligned(width * size)) width /= 2;
  auto byteOffset = [&](const Coord& c) { return c[a.row] * t.pitch + (a.col >= 0 ? c[a.col] * size : 0); };
  Value offset = mulConstant(loc, coordinate(loc, l, a.row), t.pitch);
  if (a.col >= 0) offset = add(loc, offset, mulConstant(loc, coordinate(loc, l, a.col), size));
  Value base = gep(loc, t.base, offset);
  Type scalar_type = scalarOf(element);
  Type memory_type = element.isInteger(1) ? Type(b_.getI8Type()) : scalar_type;
  Fragment scalars(l.registers());
  for (int r = 0; r < l.registers(); r += width) {
    Value address = gep(loc, base, t.offset + byteOffset(l.regOffset(r)));
    Type type = width == 1 ? memory_type : Type(VectorType::get({width}, memory_type));
    Value x = LLVM::LoadOp::create(b_, loc, type, address, static_cast<unsigned>(width * size));
    for (int i = 0; i < width; i++) {
      Value e = width == 1 ? x : vector::ExtractOp::create(b_, loc, x, i).getResult();
      if (element.isInteger(1)) e = arith::TruncIOp::create(b_, loc, b_.getI1Type(), e);
      scalars[r + i] = e;
    }
  }
  return pack(loc, scalars, element);
}

void Lowering::storeShared(Location loc, const SharedTile& t, const Layout& l, const Fragment& f) {
  Type element = t.type.getElementType();
  const int size = tile::elementBytes(element), rank = t.type.getRank();
  const Axes a = rank == 1 ? Axes{0, -1} : axesOf(t);
  const int along = rank == 2 ? a.col : t.pitch == size ? 0 : -1;
  int width = 1;
  if (along >= 0)
    while (width * size < 16 && width < l.registers() && isStep(l.reg[llvm::Log2_32(width)], along, width)) width *= 2;
  while (width > 1 && (lowBit(t.offset) < width * size || (rank == 2 && lowBit(t.pitch) < width * size))) width /= 2;
  Value own = owns(loc, l);
  OpBuilder::InsertionGuard guard(b_);
  if (own) b_.setInsertionPointToStart(scf::IfOp::create(b_, loc, own, false).thenBlock());
  Value offset = mulConstant(loc, coordinate(loc, l, a.row), t.pitch);
  if (a.col >= 0) offset = add(loc, offset, mulConstant(loc, coordinate(loc, l, a.col), size));
  Value base = gep(loc, t.base, offset);
  Fragment scalars = unpack(loc, f, element, l.registers());
  for (int r = 0; r < l.registers(); r += width) {
    const Coord c = l.regOffset(r);
    SmallVector<Value> xs(scalars.begin() + r, scalars.begin() + r + width);
    if (element.isInteger(1))
      for (Value& x : xs) x = arith::ExtUIOp::create(b_, loc, b_.getI8Type(), x);
    Value x = xs[0];
    if (width > 1) x = vector::FromElementsOp::create(b_, loc, VectorType::get({width}, xs[0].getType()), xs);
    Value address = gep(loc, base, t.offset + c[a.row] * t.pitch + (a.col >= 0 ? c[a.col] * size : 0));
    LLVM::StoreOp::create(b_, loc, x, address, static_cast<unsigned>(width * size));
  }
}

// Addends are added pairwise in the order of their warps, so that a sum has the same bits wherever it is read.
Fragment Lowering::loadSum(Location loc, SharedTile t, const Layout& l) {
  SmallVector<Fragment> parts;
  for (int i = 0; i < t.addends; i++, t.offset += t.addend_bytes) parts.push_back(loadShared(loc, t, l));
  for (; parts.size() > 1; parts.truncate(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; i++)
      for (auto [x, y, sum] : llvm::zip(parts[2 * i], parts[2 * i + 1], parts[i])) sum = arith::AddFOp::create(b_, loc, x, y);
  return parts[0];
}

// Where this warp's addend goes. `warp_bits`: those whose copies are addends.
SharedTile Lowering::ownAddend(Location loc, SharedTile t, uint32_t warp_bits) {
  for (int bit = 0, step = t.addend_bytes; bit < 32; bit++) {
    if (!(warp_bits >> bit & 1)) continue;
    Value own = arith::AndIOp::create(b_, loc, arith::ShRUIOp::create(b_, loc, group_.warp, i32(loc, bit)), i32(loc, 1));
    t.base = gep(loc, t.base, mulConstant(loc, own, step));
    step *= 2;
  }
  return t;
}

// The registers of `from` at the places of `to`, if both have the same elements in the same lanes and warps.
std::optional<Fragment> Lowering::moveRegisters(Location loc, const Fragment& f, const Layout& from, const Layout& to,
                                                Type element) {
  if (from.lane != to.lane || from.warp != to.warp) return std::nullopt;
  std::map<Coord, int> where;
  for (int r = 0; r < from.registers(); r++) where[from.regOffset(r)] = r;
  // Whole words where both sides pack the same neighbours.
  const int pack_from = packOf(element, from.registers()), pack_to = packOf(element, to.registers());
  bool words = pack_from == pack_to;
  for (int i = 0; words && (1 << i) < pack_to; i++) words = from.reg[i] == to.reg[i];
  Fragment scalars = words ? Fragment() : unpack(loc, f, element, from.registers()), moved;
  for (int r = 0; r < to.registers(); r += words ? pack_to : 1) {
    auto at = where.find(to.regOffset(r));
    if (at == where.end()) return std::nullopt;
    moved.push_back(words ? f[at->second / pack_from] : scalars[at->second]);
  }
  return words ? moved : pack(loc, moved, element);
}

void Lowering::lowerConvert(tile::ConvertLayoutOp op) {
  if (fragments_.contains(op.getResult())) return;  // done with an earlier exchange
  Location loc = op.getLoc();
  const Layout to = layoutOf(op.getResult());
  if (auto it = shared_.find(op.getValue()); it != shared_.end()) return set(op.getResult(), loadSum(loc, it->second, to));
  const Layout from = layoutOf(op.getValue());
  Fragment f = get(op.getValue());
  if (!status_.ok()) return;
  if (auto spread = op->getAttrOfType<IntegerAttr>(tile::kSpreadAttr)) {
    // A whole value as a partial one: the first copy keeps it, the others hold zero.
    Value first = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq,
                                        arith::AndIOp::create(b_, loc, group_.warp, i32(loc, static_cast<int>(spread.getInt()))),
                                        i32(loc, 0));
    Value zero = arith::ConstantOp::create(b_, loc, b_.getF32FloatAttr(0));
    for (Value& x : f) x = arith::SelectOp::create(b_, loc, first, x, zero);
    return set(op.getResult(), f);
  }
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  if (!op->hasAttr(tile::kSumAttr)) {
    if (auto moved = moveRegisters(loc, f, from, to, element)) return set(op.getResult(), *moved);
  }
  // Through shared memory, together with the exchanges further down whose values are there already: they share the barriers.
  SmallVector<tile::ConvertLayoutOp> exchanges = {op};
  for (Operation* next = op->getNextNode(); next; next = next->getNextNode()) {
    auto other = dyn_cast<tile::ConvertLayoutOp>(next);
    if (!other || !fragments_.contains(other.getValue()) || other->hasAttr(tile::kSpreadAttr)) continue;
    if (fragments_.contains(other.getResult())) continue;  // done with an earlier exchange
    const Layout a = layoutOf(other.getValue()), b = layoutOf(other.getResult());
    if (other->hasAttr(tile::kSumAttr) || a.lane != b.lane || a.warp != b.warp) exchanges.push_back(other);
  }
  exchange(exchanges);
}

// Values pass from one layout to another through scratch in shared memory; addends of a sum lie side by side.
void Lowering::exchange(MutableArrayRef<tile::ConvertLayoutOp> ops) {
  Location loc = ops.front().getLoc();
  SmallVector<SharedTile> places;
  Operation* reuse = groupBarrier(loc);
  for (tile::ConvertLayoutOp op : ops) {
    auto type = cast<RankedTensorType>(op.getType());
    Layout from = layoutOf(op.getValue());
    auto sum = op->getAttrOfType<IntegerAttr>(tile::kSumAttr);
    SharedTile t;
    t.type = type;
    t.pitch = sum ? tile::addendPitch(type) : tile::sharedPitch(type);
    t.addend_bytes = (t.pitch * static_cast<int>(type.getDimSize(0)) + 15) / 16 * 16;
    from.partial = sum ? static_cast<uint32_t>(sum.getInt()) : 0;
    t.addends = 1 << llvm::popcount(from.partial);
    t.base = scratch(loc, t.addends * t.addend_bytes);
    places.push_back(t);
    storeShared(loc, ownAddend(loc, t, from.partial), from, get(op.getValue()));
  }
  exchange_barriers_.push_back({reuse, groupBarrier(loc)});
  for (auto [op, t] : llvm::zip(ops, places)) set(op.getResult(), loadSum(loc, t, layoutOf(op.getResult())));
}

}  // namespace nereid::gpu
