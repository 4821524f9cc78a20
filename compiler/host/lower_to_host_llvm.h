// CPU: from loops over memory to a module of llvm ops only.
#pragma once
#include "compiler/codegen/pass_table.h"

namespace nereid::compiler {

PassTable hostLoweringTable();

// Takes func, scf, cf, affine, arith, math, vector, memref, index, ub and llvm ops. bf16, f8E8M0 and f4E2M1 conversions are expanded
// here; f8E4M3FN ones must be gone. Leaves llvm ops; what has no LLVM intrinsic (tanh, erf, …) becomes a call of libm.
// Dump: "llvm"; stage: "mlir".
Status lowerToHostLlvm(mlir::ModuleOp module, Trace& trace);

}  // namespace nereid::compiler
