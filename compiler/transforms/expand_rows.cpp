// Rows as loads and stores.
#include "compiler/transforms/expand_rows.h"

#include <fmt/format.h>

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "compiler/dialect/tile_dialect.h"

namespace nereid::tile {
namespace {
using namespace mlir;

// Element offsets [rows, cols] of elements of `bytes` bytes at byte offsets `rows` + at.
Value elementOffsets(OpBuilder& b, Location loc, Value rows, int64_t at, int64_t cols, int bytes) {
  auto row_type = cast<RankedTensorType>(rows.getType());
  auto constant = [&](RankedTensorType t, int64_t x) -> Value {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(t, b.getIntegerAttr(t.getElementType(), x)));
  };
  // The division is exact; written as a division and a multiplication by constants it stays visible to the axis analysis.
  Value start = rows;
  if (at) start = arith::AddIOp::create(b, loc, start, constant(row_type, at));
  if (bytes > 1) start = arith::ShRSIOp::create(b, loc, start, constant(row_type, llvm::Log2_32(bytes)));
  if (cols == 0) return start;
  auto type = RankedTensorType::get({row_type.getDimSize(0), cols}, b.getI64Type());
  Value column = RangeOp::create(b, loc, RankedTensorType::get({cols}, b.getI32Type()), 0u);
  column = arith::ExtSIOp::create(b, loc, RankedTensorType::get({cols}, b.getI64Type()), column);
  return arith::AddIOp::create(b, loc, BroadcastOp::create(b, loc, type, start, 0), BroadcastOp::create(b, loc, type, column, 1));
}

Value maskLike(OpBuilder& b, Location loc, Value mask, int64_t cols) {
  if (cols == 0) return mask;
  auto type = RankedTensorType::get({cast<RankedTensorType>(mask.getType()).getDimSize(0), cols}, b.getI1Type());
  return BroadcastOp::create(b, loc, type, mask, 0);
}

// Element offsets would lose what a byte offset has beyond whole elements.
Status checkAligned(Operation* rows, int align, int element_bytes) {
  if (align % element_bytes == 0) return {};
  std::string where;
  llvm::raw_string_ostream(where) << rows->getLoc();
  return Diag{Code::kUnsupported, fmt::format("rows aligned to {} bytes hold elements of {} bytes", align, element_bytes), where,
              "promise a larger alignment, or take the rows as smaller elements"};
}

void expandView(GatherRowsOp gather, ViewOp view) {
  OpBuilder b(view);
  auto type = cast<RankedTensorType>(view.getType());
  const int64_t cols = type.getRank() == 2 ? type.getDimSize(1) : 0;
  Value offsets = elementOffsets(b, view.getLoc(), gather.getOffsets(), view.getAt(), cols, elementBytes(type.getElementType()));
  auto load = LoadOp::create(b, view.getLoc(), type, gather.getBase(), offsets,
                             maskLike(b, view.getLoc(), gather.getMask(), cols), Value());
  load->setAttr(kRowAlignAttr,
                b.getI32IntegerAttr(std::gcd(gather.getAlign(), view.getAt() ? view.getAt() & -view.getAt() : 16)));
  view.getResult().replaceAllUsesWith(load.getResult());
  view.erase();
}

// Copies rows as the widest integers that alignment and width allow.
Status expandScatter(ScatterRowsOp scatter) {
  OpBuilder b(scatter);
  Location loc = scatter.getLoc();
  auto bytes = cast<RankedTensorType>(scatter.getValue().getType());
  const int64_t rows = bytes.getDimSize(0), width = bytes.getDimSize(1);
  Value value = scatter.getValue();
  int element = 1;
  // Bytes of values, also of one byte a row, are stored as the values.
  auto isValues = [](RankedTensorType t) { return t.getRank() == 1 || !t.getElementType().isInteger(8); };
  if (auto view = value.getDefiningOp<ViewOp>(); view && isValues(cast<RankedTensorType>(view.getValue().getType()))) {
    value = view.getValue();
    element = elementBytes(cast<RankedTensorType>(value.getType()).getElementType());
    NEREID_CHECK_OK(checkAligned(scatter, static_cast<int>(scatter.getAlign()), element));
  } else if (auto gather = value.getDefiningOp<GatherRowsOp>()) {
    while (element < 8 && width % (element * 2) == 0 && gather.getAlign() % (element * 2) == 0 &&
           scatter.getAlign() % (element * 2) == 0)
      element *= 2;
    auto type = RankedTensorType::get({rows, width / element}, b.getIntegerType(element * 8));
    if (element > 1) {
      value = ViewOp::create(b, loc, type, value, 0u);
      expandView(gather, value.getDefiningOp<ViewOp>());
      value = scatter->getPrevNode()->getResult(0);
    }
  }
  auto type = cast<RankedTensorType>(value.getType());
  const int64_t cols = type.getRank() == 2 ? type.getDimSize(1) : 0;
  Value offsets = elementOffsets(b, loc, scatter.getOffsets(), 0, cols, element);
  auto store = StoreOp::create(b, loc, scatter.getBase(), offsets, value, maskLike(b, loc, scatter.getMask(), cols));
  store->setAttr(kRowAlignAttr, b.getI32IntegerAttr(scatter.getAlign()));
  scatter.erase();
  return {};
}

}  // namespace

Status expandRows(ModuleOp module) {
  SmallVector<ScatterRowsOp> scatters;
  module.walk([&](ScatterRowsOp op) { scatters.push_back(op); });
  for (ScatterRowsOp op : scatters) NEREID_CHECK_OK(expandScatter(op));
  SmallVector<GatherRowsOp> gathers;
  module.walk([&](GatherRowsOp op) { gathers.push_back(op); });
  for (GatherRowsOp gather : gathers) {
    for (Operation* user : llvm::make_early_inc_range(gather->getUsers()))
      if (auto view = dyn_cast<ViewOp>(user)) {
        const Type element = cast<RankedTensorType>(view.getType()).getElementType();
        NEREID_CHECK_OK(checkAligned(view, static_cast<int>(gather.getAlign()), elementBytes(element)));
        expandView(gather, view);
      }
    if (!gather->use_empty()) {
      std::string where;
      llvm::raw_string_ostream(where) << gather.getLoc();
      return Diag{Code::kUnsupported, "gathered rows are used as a whole", where,
                  "take view() or column() of them, or scatter them"};
    }
    gather.erase();
  }
  return {};
}

}  // namespace nereid::tile
