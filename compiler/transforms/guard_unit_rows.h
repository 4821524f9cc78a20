// guard_unit_rows: marks multiplications by a row factor that is mostly one, so that code skips them where it is.
//
// `x · broadcast(select(mask, v, 1))` in f32 gets the attribute `tile.skip_if_unit` (the index of the factor). Multiplying by one
// changes nothing, so skipping it is exact; a warp branches over the multiplications when none of its rows has a factor other
// than one.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"

namespace nereid::tile {
inline constexpr const char* kSkipIfUnitAttr = "tile.skip_if_unit";  // arith.mulf: operand index of the factor (i32)
Status guardUnitRows(mlir::ModuleOp module);
}  // namespace nereid::tile
