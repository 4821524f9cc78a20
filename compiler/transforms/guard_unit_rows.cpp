// Finds factors that are selects against one.
#include "compiler/transforms/guard_unit_rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "compiler/dialect/tile_dialect.h"

namespace nereid::tile {
namespace {
using namespace mlir;

bool isOne(Value v) {
  APFloat value(0.0f);
  if (matchPattern(v, m_ConstantFloat(&value))) return value.isExactlyValue(1.0);
  auto splat = v.getDefiningOp<SplatOp>();
  return splat && isOne(splat.getValue());
}

// A select with one on a side, or a product of such selects.
bool isMostlyOne(Value v) {
  if (auto select = v.getDefiningOp<arith::SelectOp>()) return isOne(select.getFalseValue()) || isOne(select.getTrueValue());
  if (auto product = v.getDefiningOp<arith::MulFOp>()) return isMostlyOne(product.getLhs()) && isMostlyOne(product.getRhs());
  return false;
}

}  // namespace

Status guardUnitRows(ModuleOp module) {
  module.walk([](arith::MulFOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.getElementType().isF32()) return;
    for (int i = 0; i < 2; i++)
      if (auto factor = op->getOperand(i).getDefiningOp<BroadcastOp>(); factor && isMostlyOne(factor.getValue()))
        op->setAttr(kSkipIfUnitAttr, Builder(op.getContext()).getI32IntegerAttr(i));
  });
  return {};
}

}  // namespace nereid::tile
