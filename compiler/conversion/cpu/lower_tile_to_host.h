// lower_tile_to_host: tile IR → loops over buffers for one program instance on the CPU.
#pragma once
#include <span>

#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"

namespace nereid::cpu {

struct HostStage {
  const char* name;
  const char* reason;
  Status (*run)(mlir::ModuleOp module);
};
std::span<const HostStage> tileToHostTable();

// Runs the table. Each kernel (func.func with tile.kernel) becomes `func @name(%args: !llvm.ptr, %block: i64)`: an array of
// 8-byte slots in argument order, and the instance's index. Leaves func, scf, arith, math, vector, memref and llvm ops;
// compiler/host takes it from there. Tiles are buffers on the stack; elementwise chains with one user are computed in their
// consumer's loop, 16 elements at a time. Layouts, roles and channels are not accepted: this lowering is of the program as
// recorded.
Status lowerTileToHost(mlir::ModuleOp module);

}  // namespace nereid::cpu
