// Registration, the layout attribute's text form, and queries on types.
#include "compiler/dialect/tile_dialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

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
  if (rank < 1 || reg.size() % rank || warp.size() % rank || static_cast<int>(lane.size()) != 5 * rank) {
    parser.emitError(parser.getCurrentLocation(), "a layout has 5 lane bases and each basis has `rank` numbers");
    return {};
  }
  return get(parser.getContext(), rank, reg, lane, warp, partial);
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
