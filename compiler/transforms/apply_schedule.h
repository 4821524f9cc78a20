// apply_schedule: writes a Schedule onto a tile program as attributes; later passes read the IR only.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"
#include "runtime/spec/schedule.h"

namespace nereid::tile {

// Attributes that apply_schedule leaves.
inline constexpr const char* kWarpsAttr = "tile.warps";                 // func: warps of the block when it has no roles (i32)
inline constexpr const char* kRolesAttr = "tile.roles";                 // func: array of {name, warps, groups, registers}
inline constexpr const char* kStagesAttr = "tile.stages";               // func: depth of rings of gathered rows (i32)
inline constexpr const char* kMaxRegistersAttr = "tile.max_registers";  // func: register cap a thread (i32)
inline constexpr const char* kGridAttr = "tile.grid";                   // dot: warps over m, n, k (array of 3 i32)
inline constexpr const char* kRoleAttr = "tile.role";                   // dot: index of its role
inline constexpr const char* kBulkAttr = "tile.bulk";                   // gather_rows: copy by the bulk engine

// Refuses schedules that name dots the program has not, roles whose grid does not fill their warps, and tiles a fragment cannot
// cover.
Status applySchedule(mlir::ModuleOp module, const Schedule& schedule, const Target& target);

}  // namespace nereid::tile
