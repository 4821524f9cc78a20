// partition_roles: cuts a kernel into roles that run side by side on their own warps, with channels between them.
//
// Anchors decide: a gather_rows inside a loop belongs to the role `load`, a dot to the role of its label. Any other op belongs to
// the last role (in the schedule's order) among those it depends on, or to the one role after that which uses it, where that
// sends no more bytes; one that depends on no anchor is cloned into each role that uses it, except that a value read from memory
// in order to address a gather is sent by `load`. What crosses roles goes through a channel, one for each loop and writer: that
// of `load`, with the gathered rows, has `tile.stages` slots, others two.
//
// A role without dots behind one with dots helps it: it takes over where the dots' sums are needed as a whole, so the role before
// it keeps what a sum split over its warps can stay addends through, and its channel has one slot. In `load`, values known before
// the rows are copied wait with their slot until then.
//
// Before: func.func with `tile.roles` (apply_schedule). After: its body is the channels and one tile.warps; no gather_rows is
// left in a loop. A kernel without roles, or without a gather in a loop, is left alone.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"

namespace nereid::tile {
Status partitionRoles(mlir::ModuleOp module);
}
