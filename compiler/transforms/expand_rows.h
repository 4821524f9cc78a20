// expand_rows: gather_rows and scatter_rows that no ring serves become plain loads and stores.
//
// `view(gather_rows(base, offsets), at)` turns into a load of the viewed type whose offsets are the row's plus the column, and
// scatter_rows of bytes into a store of the widest elements that the alignment allows; elements wider than that are refused.
// Leaves no gather_rows outside loops of roles.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"

namespace nereid::tile {
Status expandRows(mlir::ModuleOp module);
}
