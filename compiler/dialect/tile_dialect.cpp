// Registration, the layout attribute's text form, and queries on types.
#include "compiler/dialect/tile_dialect.h"

#include <set>

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "compiler/dialect/tile_dialect.cpp.inc"
#include "compiler/dialect/tile_enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/tile_attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/tile_types.cpp.inc"

namespace nereid::tile {

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/tile_attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/tile_types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/tile_ops.cpp.inc"
      >();
}

// Folded values become arith.constant.
mlir::Operation* TileDialect::materializeConstant(mlir::OpBuilder& b, mlir::Attribute value, mlir::Type type,
                                                  mlir::Location loc) {
  return mlir::arith::ConstantOp::materialize(b, value, type, loc);
}

namespace {

std::vector<int32_t> flatten(const std::vector<layout::Coord>& bases) {
  std::vector<int32_t> flat;
  for (const auto& c : bases) flat.insert(flat.end(), c.begin(), c.end());
  return flat;
}

std::vector<layout::Coord> unflatten(llvm::ArrayRef<int32_t> flat, int rank) {
  std::vector<layout::Coord> bases;
  for (size_t i = 0; i + rank <= flat.size(); i += rank) bases.emplace_back(flat.begin() + i, flat.begin() + i + rank);
  return bases;
}

mlir::ParseResult parseBases(mlir::AsmParser& parser, llvm::StringRef name, llvm::SmallVector<int32_t>& out) {
  return mlir::failure(parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual() ||
                       parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                                      [&] { return parser.parseInteger(out.emplace_back()); }));
}

}  // namespace

layout::Layout LayoutAttr::toLayout() const {
  const int rank = getRank();
  return {.rank = rank,
          .reg = unflatten(getReg(), rank),
          .lane = unflatten(getLane(), rank),
          .warp = unflatten(getWarp(), rank),
          .partial = getPartial()};
}

LayoutAttr LayoutAttr::of(mlir::MLIRContext* context, const layout::Layout& l) {
  return get(context, l.rank, flatten(l.reg), flatten(l.lane), flatten(l.warp), l.partial);
}

void LayoutAttr::print(mlir::AsmPrinter& printer) const {
  auto list = [&](llvm::StringRef name, llvm::ArrayRef<int32_t> bases) {
    printer << ", " << name << " = [";
    llvm::interleaveComma(bases, printer);
    printer << "]";
  };
  printer << "<rank = " << getRank();
  list("reg", getReg());
  list("lane", getLane());
  list("warp", getWarp());
  if (getPartial()) printer << ", partial = " << getPartial();
  printer << ">";
}

mlir::Attribute LayoutAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  int32_t rank = 0;
  uint32_t partial = 0;
  llvm::SmallVector<int32_t> reg, lane, warp;
  if (parser.parseLess() || parser.parseKeyword("rank") || parser.parseEqual() || parser.parseInteger(rank) ||
      parseBases(parser, "reg", reg) || parseBases(parser, "lane", lane) || parseBases(parser, "warp", warp))
    return {};
  if (mlir::succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("partial") || parser.parseEqual() || parser.parseInteger(partial)))
    return {};
  if (parser.parseGreater()) return {};
  return parser.getChecked<LayoutAttr>(parser.getContext(), rank, reg, lane, warp, partial);
}

namespace {
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

bool isZero(const layout::Coord& c) {
  return llvm::all_of(c, [](int32_t x) { return x == 0; });
}

// A step of a power of two in one dimension.
bool isStep(const layout::Coord& c) {
  return llvm::count(c, 0) + 1 == static_cast<int>(c.size()) &&
         llvm::all_of(c, [](int32_t x) { return x == 0 || (x > 0 && !(x & (x - 1))); });
}

}  // namespace

mlir::LogicalResult LayoutAttr::verify(EmitError error, int32_t rank, llvm::ArrayRef<int32_t> reg, llvm::ArrayRef<int32_t> lane,
                                       llvm::ArrayRef<int32_t> warp, uint32_t partial) {
  if (rank < 1 || rank > 2) return error() << "a layout has rank 1 or 2 but got " << rank;
  if (reg.size() % rank || warp.size() % rank || lane.size() != 5 * static_cast<size_t>(rank))
    return error() << "a layout has 5 lane bases and each basis has " << rank << " numbers";
  std::set<layout::Coord> steps;
  for (llvm::ArrayRef<int32_t> bases : {reg, lane, warp})
    for (const layout::Coord& c : unflatten(bases, rank)) {
      if (isZero(c)) continue;
      if (!isStep(c))
        return error() << "a basis is zero or a power of two in one dimension but got [" << llvm::ArrayRef<int32_t>(c) << "]";
      if (!steps.insert(c).second)
        return error() << "two bits of a layout have the same basis [" << llvm::ArrayRef<int32_t>(c) << "]";
    }
  const auto copies = unflatten(warp, rank);
  for (size_t bit = 0; bit < 32; bit++)
    if (partial >> bit & 1 && (bit >= copies.size() || !isZero(copies[bit])))
      return error() << "addends lie in warps that hold copies, but warp bit " << bit << " of partial = " << partial
                     << " has no zero basis";
  return mlir::success();
}

mlir::LogicalResult LayoutAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type, EmitError error) const {
  const std::vector<int32_t> covered = toLayout().shape();
  if (llvm::equal(shape, covered)) return mlir::success();
  return error() << "expects a layout of the tile's shape [" << shape << "] but got one of [" << llvm::ArrayRef<int32_t>(covered)
                 << "]";
}

mlir::LogicalResult SharedAttr::verifyEncoding(llvm::ArrayRef<int64_t> shape, mlir::Type element, EmitError error) const {
  if (shape.empty() || shape.size() > 2) return error() << "a tile in shared memory has rank 1 or 2 but got " << shape.size();
  const int64_t along = shape.size() == 1 ? 1 : shape[getColumnMajor() ? 0 : 1], bytes = along * elementBytes(element);
  if (getPitch() >= bytes) return mlir::success();
  return error() << "expects a pitch of at least a row's " << bytes << " bytes but got " << getPitch();
}

mlir::LogicalResult ChannelType::verify(EmitError error, int32_t depth, llvm::ArrayRef<mlir::Type> payload) {
  if (depth < 1) return error() << "a channel has at least one slot but got " << depth;
  if (payload.empty()) return error() << "a channel has a payload";
  for (mlir::Type type : payload) {
    auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type);
    if (!tile || !tile.hasStaticShape() || tile.getRank() < 1 || tile.getRank() > 2)
      return error() << "a channel's payload is vectors and matrices of static shape but got " << type;
  }
  return mlir::success();
}

mlir::LogicalResult TileDialect::verifyOperationAttribute(mlir::Operation* op, mlir::NamedAttribute attribute) {
  if (attribute.getName() != kKernelAttr) return mlir::success();
  auto func = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
  if (func && !func.isExternal() && func.getFunctionBody().hasOneBlock() && func.getNumResults() == 0) return mlir::success();
  return op->emitOpError() << "expects " << kKernelAttr << " on a function with a body of one block and no results";
}

int elementBytes(mlir::Type type) {
  if (type.isIndex() || mlir::isa<mlir::LLVM::LLVMPointerType>(type)) return 8;
  return static_cast<int>((type.getIntOrFloatBitWidth() + 7) / 8);
}

std::optional<layout::Layout> layoutOf(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor) return std::nullopt;
  if (auto attr = mlir::dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())) return attr.toLayout();
  return std::nullopt;
}

bool isShared(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && mlir::isa_and_nonnull<SharedAttr>(tensor.getEncoding());
}

mlir::RankedTensorType withEncoding(mlir::RankedTensorType type, mlir::Attribute encoding) {
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

}  // namespace nereid::tile
