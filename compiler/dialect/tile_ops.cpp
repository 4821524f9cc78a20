// Verifiers, folders and memory effects of the tile ops. Messages say what an op expects and what it got.
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include "compiler/dialect/tile_dialect.h"

#define GET_OP_CLASSES
#include "compiler/dialect/tile_ops.cpp.inc"

namespace nereid::tile {
using namespace mlir;

namespace {

RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// The size of one row in bytes: the last dimension, or one element of a vector.
int64_t rowBytes(RankedTensorType type) {
  return (type.getRank() == 2 ? type.getDimSize(1) : 1) * elementBytes(type.getElementType());
}

LogicalResult sameShape(Operation* op, Value a, llvm::StringRef a_name, Value b, llvm::StringRef b_name) {
  if (tensorOf(a).getShape() == tensorOf(b).getShape()) return success();
  return op->emitOpError() << "expects " << b_name << " of the shape of " << a_name << " but got " << tensorOf(b) << " and "
                           << tensorOf(a);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
void reads(Effects& effects) { effects.emplace_back(MemoryEffects::Read::get()); }
void writes(Effects& effects) { effects.emplace_back(MemoryEffects::Write::get()); }

}  // namespace

LogicalResult RangeOp::verify() {
  if (tensorOf(getResult()).getRank() != 1) return emitOpError() << "expects a vector result but got " << getType();
  return success();
}

LogicalResult SplatOp::verify() {
  if (tensorOf(getResult()).getElementType() != getValue().getType())
    return emitOpError() << "expects elements of type " << getValue().getType() << " but got " << getType();
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  auto value = dyn_cast_or_null<TypedAttr>(adaptor.getValue());
  if (!value || !isa<IntegerAttr, FloatAttr>(value)) return {};
  return DenseElementsAttr::get(cast<ShapedType>(getType()), Attribute(value));
}

LogicalResult BroadcastOp::verify() {
  auto from = tensorOf(getValue()), to = tensorOf(getResult());
  if (from.getRank() != 1 || to.getRank() != 2)
    return emitOpError() << "expects a vector and a matrix but got " << from << " and " << to;
  const int dim = getDim();
  if (dim != 0 && dim != 1) return emitOpError() << "expects dim 0 or 1 but got " << dim;
  if (from.getDimSize(0) != to.getDimSize(dim) || from.getElementType() != to.getElementType())
    return emitOpError() << "expects dimension " << dim << " and element type of the result to be those of " << from
                         << " but got " << to;
  return success();
}

LogicalResult TransOp::verify() {
  auto from = tensorOf(getValue()), to = tensorOf(getResult());
  if (from.getRank() != 2 || to.getRank() != 2 || from.getDimSize(0) != to.getDimSize(1) ||
      from.getDimSize(1) != to.getDimSize(0) || from.getElementType() != to.getElementType())
    return emitOpError() << "expects the transposed shape of " << from << " but got " << to;
  return success();
}

OpFoldResult TransOp::fold(FoldAdaptor) {
  if (auto inner = getValue().getDefiningOp<TransOp>(); inner && inner.getValue().getType() == getType()) return inner.getValue();
  return {};
}

LogicalResult ViewOp::verify() {
  auto from = tensorOf(getValue()), to = tensorOf(getResult());
  if (from.getDimSize(0) != to.getDimSize(0)) return emitOpError() << "expects as many rows as " << from << " but got " << to;
  const int64_t have = rowBytes(from), need = rowBytes(to), at = getAt();
  if (from.getElementType().isInteger(8)) {
    if (at < 0 || at + need > have)
      return emitOpError() << "expects bytes inside the row of " << have << " but got [" << at << ", " << at + need << ")";
    if (at % elementBytes(to.getElementType()))
      return emitOpError() << "expects a byte offset that is a multiple of the element's size but got " << at << " for " << to;
    return success();
  }
  if (!to.getElementType().isInteger(8) || at != 0 || have != need)
    return emitOpError() << "expects bytes on one side, and whole rows from values to bytes, but got " << from << " at " << at
                         << " and " << to;
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(sameShape(*this, getOffsets(), "the offsets", getResult(), "a result"))) return failure();
  if (getMask() && failed(sameShape(*this, getOffsets(), "the offsets", getMask(), "a mask"))) return failure();
  if (!getOther()) return success();
  if (!getMask()) return emitOpError() << "expects a mask where `else` is given";
  if (tensorOf(getOther()).getElementType() != tensorOf(getResult()).getElementType())
    return emitOpError() << "expects `else` of the result's type but got " << getOther().getType();
  return sameShape(*this, getOffsets(), "the offsets", getOther(), "`else`");
}

LogicalResult StoreOp::verify() {
  if (failed(sameShape(*this, getOffsets(), "the offsets", getValue(), "a value"))) return failure();
  return getMask() ? sameShape(*this, getOffsets(), "the offsets", getMask(), "a mask") : success();
}

static LogicalResult verifyRows(Operation* op, Value offsets, Value mask, RankedTensorType bytes, int align) {
  if (bytes.getRank() != 2 || tensorOf(offsets).getRank() != 1 || tensorOf(offsets).getDimSize(0) != bytes.getDimSize(0))
    return op->emitOpError() << "expects one offset for each row of " << bytes << " but got " << tensorOf(offsets);
  if (align < 1 || (align & (align - 1)) || align > 16)
    return op->emitOpError() << "expects an alignment of 1, 2, 4, 8 or 16 bytes but got " << align;
  return sameShape(op, offsets, "the offsets", mask, "a mask");
}

LogicalResult GatherRowsOp::verify() { return verifyRows(*this, getOffsets(), getMask(), getType(), getAlign()); }
LogicalResult ScatterRowsOp::verify() { return verifyRows(*this, getOffsets(), getMask(), tensorOf(getValue()), getAlign()); }

LogicalResult TicketOp::verify() {
  APInt limit;
  if (matchPattern(getLimit(), m_ConstantInt(&limit)) && limit.getSExtValue() < 1)
    return emitOpError() << "expects a limit of at least 1 but got " << limit.getSExtValue();
  return success();
}

LogicalResult DotOp::verify() {
  auto a = tensorOf(getA()), b = tensorOf(getB()), c = tensorOf(getC());
  Type e = a.getElementType();
  if (e != b.getElementType() || !isa<Float16Type, BFloat16Type, Float8E4M3FNType>(e))
    return emitOpError() << "expects operands of one type of f16, bf16, f8E4M3FN but got " << a << " and " << b;
  if (!c.getElementType().isF32()) return emitOpError() << "expects an f32 accumulator but got " << c;
  if (a.getRank() != 2 || b.getRank() != 2 || c.getRank() != 2 || a.getDimSize(1) != b.getDimSize(0) ||
      a.getDimSize(0) != c.getDimSize(0) || b.getDimSize(1) != c.getDimSize(1))
    return emitOpError() << "expects shapes [M, K], [K, N], [M, N] but got " << a << ", " << b << ", " << c;
  return success();
}

LogicalResult ReduceOp::verify() {
  auto from = tensorOf(getValue());
  const int dim = getDim();
  if (dim < 0 || dim >= from.getRank()) return emitOpError() << "expects a dimension of " << from << " but got " << dim;
  if (getKind() == ReduceKind::Or && !isa<IntegerType>(from.getElementType()))
    return emitOpError() << "expects integers for `or` but got " << from;
  if (from.getRank() == 1)
    return getType() == from.getElementType() ? success() : emitOpError() << "expects a scalar result but got " << getType();
  auto to = dyn_cast<RankedTensorType>(getType());
  if (!to || to.getRank() != 1 || to.getDimSize(0) != from.getDimSize(1 - dim) || to.getElementType() != from.getElementType())
    return emitOpError() << "expects a vector of the other dimension of " << from << " but got " << getType();
  return success();
}

// `mask` names warp bits whose copies a layout of `type` holds.
static LogicalResult verifyCopies(ConvertLayoutOp op, StringRef name, IntegerAttr mask, RankedTensorType type) {
  auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!layout) return op.emitOpError() << "expects a register layout for " << name << " but got " << type;
  if (!isa<FloatType>(type.getElementType())) return op.emitOpError() << "expects floats for " << name << " but got " << type;
  const uint32_t bits = static_cast<uint32_t>(mask.getInt());
  return LayoutAttr::verify([&] { return op.emitOpError() << name << ": "; }, layout.getRank(), layout.getReg(), layout.getLane(),
                            layout.getWarp(), bits);
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = tensorOf(getValue()), to = tensorOf(getResult());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "expects the same tile on both sides but got " << from << " and " << to;
  auto layout = dyn_cast_or_null<LayoutAttr>(to.getEncoding());
  if (!layout) return emitOpError() << "expects a register layout on the result but got " << to;
  if (!isa_and_nonnull<LayoutAttr, SharedAttr>(from.getEncoding()))
    return emitOpError() << "expects an operand in registers or shared memory but got " << from;
  if (failed(layout.verifyEncoding(to.getShape(), to.getElementType(), [&] { return emitOpError(); }))) return failure();
  auto sum = (*this)->getAttrOfType<IntegerAttr>(kSumAttr), spread = (*this)->getAttrOfType<IntegerAttr>(kSpreadAttr);
  if (sum && spread) return emitOpError() << "expects " << kSumAttr << " or " << kSpreadAttr << " but got both";
  if (sum) return verifyCopies(*this, kSumAttr, sum, from);
  if (!spread) return success();
  if (from != to) return emitOpError() << "expects one layout for " << kSpreadAttr << " but got " << from << " and " << to;
  return verifyCopies(*this, kSpreadAttr, spread, to);
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

namespace {

enum class Side { kWriter, kReader };

struct RolePlace {
  WarpsOp warps;
  unsigned index = 0;
  StringAttr name() { return cast<StringAttr>(warps.getNames()[index]); }
  int groups() { return warps.getGroups()[index]; }
};

// The role that an op lies in.
std::optional<RolePlace> roleOf(Operation* op) {
  for (Region* region = op->getParentRegion(); region; region = region->getParentRegion())
    if (auto warps = dyn_cast<WarpsOp>(region->getParentOp())) return RolePlace{warps, region->getRegionNumber()};
  return std::nullopt;
}

// Only the writer's role fills slots, only the readers' roles use them.
LogicalResult verifySide(Operation* op, Value channel, Side side) {
  auto role = roleOf(op);
  if (!role) return op->emitOpError() << "expects to lie in a role of tile.warps";
  auto made = channel.getDefiningOp<ChannelOp>();
  if (!made || role->index >= role->warps.getNames().size()) return success();
  if (side == Side::kReader && !llvm::is_contained(made.getReaders(), role->name()))
    return op->emitOpError() << "expects to lie in a role of " << made.getReaders() << ", which read the channel, but lies in "
                             << role->name();
  if (side == Side::kWriter && made.getWriterAttr() != role->name())
    return op->emitOpError() << "expects to lie in the role " << made.getWriterAttr()
                             << ", which writes the channel, but lies in " << role->name();
  return success();
}

// The tile that place `index` of a channel's slots holds, or an error. Encodings do not matter: they come later.
FailureOr<RankedTensorType> payloadOf(Operation* op, ChannelType channel, int index) {
  if (index >= 0 && index < static_cast<int>(channel.getPayload().size()))
    return cast<RankedTensorType>(channel.getPayload()[index]);
  return op->emitOpError() << "expects a payload below " << channel.getPayload().size() << " but got " << index;
}

bool sameTile(RankedTensorType a, RankedTensorType b) {
  return a.getShape() == b.getShape() && a.getElementType() == b.getElementType();
}

}  // namespace

LogicalResult ChannelOp::verify() {
  if (getReaders().empty()) return emitOpError() << "expects a reader";
  llvm::SmallPtrSet<Attribute, 4> seen;
  for (auto reader : getReaders()) {
    if (reader == getWriterAttr()) return emitOpError() << "expects readers other than the writer but got " << reader;
    if (!seen.insert(reader).second) return emitOpError() << "expects each reader once but got " << reader << " twice";
  }
  return success();
}

LogicalResult AcquireOp::verify() {
  if (failed(verifySide(*this, getChannel(), Side::kWriter))) return failure();
  auto role = roleOf(*this);
  if (role->index >= role->warps.getGroups().size() || role->groups() <= getChannel().getType().getDepth()) return success();
  return emitOpError() << "expects as many slots as the role has groups, " << role->groups() << ", but got "
                       << getChannel().getType().getDepth();
}

LogicalResult CommitOp::verify() { return verifySide(*this, getChannel(), Side::kWriter); }
LogicalResult ReleaseOp::verify() { return verifySide(*this, getChannel(), Side::kReader); }

LogicalResult PutOp::verify() {
  if (failed(verifySide(*this, getChannel(), Side::kWriter))) return failure();
  auto payload = payloadOf(*this, getChannel().getType(), getPayload());
  if (failed(payload)) return failure();
  if (sameTile(*payload, tensorOf(getValue()))) return success();
  return emitOpError() << "expects payload " << getPayload() << ", " << *payload << ", but got " << tensorOf(getValue());
}

LogicalResult CopyRowsOp::verify() {
  if (failed(verifySide(*this, getChannel(), Side::kWriter))) return failure();
  auto payload = payloadOf(*this, getChannel().getType(), getPayload());
  if (failed(payload)) return failure();
  if (payload->getRank() != 2 || !payload->getElementType().isInteger(8))
    return emitOpError() << "expects payload " << getPayload() << " to be rows of bytes but got " << *payload;
  if (failed(verifyRows(*this, getOffsets(), getMask(), *payload, getAlign()))) return failure();
  if (getBulk() && (getAlign() % 16 || payload->getDimSize(1) % 16))
    return emitOpError() << "expects rows and an alignment of whole 16 bytes for a bulk copy but got " << *payload << " and "
                         << getAlign();
  return success();
}

LogicalResult WaitOp::verify() {
  if (failed(verifySide(*this, getChannel(), Side::kReader))) return failure();
  const auto types = getChannel().getType().getPayload();
  if (types.size() != getPayload().size())
    return emitOpError() << "expects " << types.size() << " results but got " << getPayload().size();
  for (auto [type, value] : llvm::zip(types, getPayload()))
    if (!sameTile(cast<RankedTensorType>(type), tensorOf(value)))
      return emitOpError() << "expects a result " << type << " but got " << value.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// tile.warps: one region a role
//===----------------------------------------------------------------------===//

LogicalResult GroupIdOp::verify() {
  return roleOf(*this) ? success() : emitOpError() << "expects to lie in a role of tile.warps";
}

LogicalResult WarpsOp::verify() {
  const size_t n = getRoles().size();
  if (getNames().size() != n || getWarps().size() != n || getGroups().size() != n || getRegisters().size() != n)
    return emitOpError() << "expects a name, a warp count, a group count and a register budget for each of its " << n << " roles";
  if (n == 0) return emitOpError() << "expects a role";
  llvm::SmallPtrSet<Attribute, 4> names;
  for (Attribute name : getNames())
    if (!names.insert(name).second) return emitOpError() << "expects roles of different names but got " << name << " twice";
  for (auto [w, g] : llvm::zip(getWarps(), getGroups()))
    if (g < 1 || w % g) return emitOpError() << "expects groups of equal size but got " << g << " of " << w << " warps";
  for (int32_t w : getWarps())
    if (w < 1 || (w & (w - 1))) return emitOpError() << "expects powers of two of warps but got " << w;
  for (int32_t r : getRegisters())
    if (r && (r < 24 || r > 256 || r % 8))
      return emitOpError() << "expects a register budget of 0 or a multiple of 8 from 24 to 256 but got " << r;
  if (roleOf(*this)) return emitOpError() << "expects to lie in no other role";
  return success();
}

LogicalResult WarpsOp::verifyRegions() {
  for (auto [i, region] : llvm::enumerate(getRoles())) {
    const WalkResult walk = region.walk([&, role = getNames()[i]](Operation* op) {
      for (Value v : op->getOperands()) {
        if (region.isAncestor(v.getParentRegion()) || !isa<RankedTensorType>(v.getType()) || matchPattern(v, m_Constant()))
          continue;
        op->emitOpError() << "uses a tile from outside its role " << role << "; tiles pass through channels";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted()) return failure();
  }
  return success();
}

void WarpsOp::print(OpAsmPrinter& p) {
  for (auto [i, region] : llvm::enumerate(getRoles())) {
    p.printNewline();
    p << "  role " << getNames()[i] << " warps " << getWarps()[i];
    if (getGroups()[i] > 1) p << " groups " << getGroups()[i];
    p << " registers " << getRegisters()[i] << " ";
    p.printRegion(region, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  }
  p.printOptionalAttrDict((*this)->getAttrs(), {"names", "warps", "groups", "registers"});
}

ParseResult WarpsOp::parse(OpAsmParser& parser, OperationState& result) {
  SmallVector<Attribute> names;
  SmallVector<int32_t> warps, groups, registers;
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    StringAttr name;
    groups.push_back(1);
    if (parser.parseAttribute(name) || parser.parseKeyword("warps") || parser.parseInteger(warps.emplace_back()) ||
        (succeeded(parser.parseOptionalKeyword("groups")) && parser.parseInteger(groups.back())) ||
        parser.parseKeyword("registers") || parser.parseInteger(registers.emplace_back()))
      return failure();
    names.push_back(name);
    Region* region = result.addRegion();
    if (parser.parseRegion(*region)) return failure();
    if (region->empty()) region->emplaceBlock();
  }
  Builder& b = parser.getBuilder();
  result.addAttribute("names", b.getArrayAttr(names));
  result.addAttribute("warps", b.getDenseI32ArrayAttr(warps));
  result.addAttribute("groups", b.getDenseI32ArrayAttr(groups));
  result.addAttribute("registers", b.getDenseI32ArrayAttr(registers));
  return parser.parseOptionalAttrDict(result.attributes);
}

void LoadOp::getEffects(Effects& e) { reads(e); }
void LoadScalarOp::getEffects(Effects& e) { reads(e); }
void GatherRowsOp::getEffects(Effects& e) { reads(e); }
void StoreOp::getEffects(Effects& e) { writes(e); }
void ScatterRowsOp::getEffects(Effects& e) { writes(e); }
void TicketOp::getEffects(Effects& e) {
  reads(e);
  writes(e);
}

}  // namespace nereid::tile
