// assign_layouts: gives every tile a register layout, and inserts convert_layout where two meet.
//
// Layouts start at dots (accumulators and operands follow from the dot's grid) and go forward through elementwise ops and
// reductions. Tiles that depend on no dot (ranges, constants, loads, bytes in shared memory and arithmetic on them) have no
// layout of their own: they are computed anew in each layout that asks for them, right where it is asked, so that conversion of
// packed operands happens in fragments and never in memory. Partial sums of a dot split over k stay partial through additions and
// through products with whole values, also over the iterations of a loop, and are joined by one convert_layout, or pass through a
// channel as addends, to be joined by its reader. Carried values take the layout that their loop yields.
//
// Before: partition_roles and expand_rows. After: every tensor has #tile.layout or (payload of channels and views of it)
// #tile.shared.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"

namespace nereid::tile {
Status assignLayouts(mlir::ModuleOp module);

// Bytes from one row of a tile in shared memory to the next: an odd multiple of 16 from 32 bytes on, so that the eight rows of an
// ldmatrix fall into different banks.
int sharedPitch(mlir::RankedTensorType type);
// The same of addends of a tile of f32: pairs stored from accumulators and rows read four at a time fall into different banks.
int addendPitch(mlir::RankedTensorType type);

// The warp bits of the writer whose copies of a payload are addends, which a reader sums; 0: the value itself.
uint32_t addendsOf(mlir::Value channel, int payload);
}  // namespace nereid::tile
