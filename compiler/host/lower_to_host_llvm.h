// CPU: from loops over memory to a module of llvm ops only.
#pragma once
#include "compiler/codegen/pass_table.h"

namespace nereid::compiler {

PassTable hostLoweringTable();

// Takes func, scf, cf, affine, arith, math, vector, memref, index, ub and llvm ops. Conversions of narrow floats (bf16, f8E4M3FN,
// f8E8M0FNU, f4E2M1FN) are expanded here. Leaves llvm ops; what has no LLVM intrinsic (tanh, erf, …) becomes a call of libm.
// Dump: "llvm"; stage: "mlir".
Status lowerToHostLlvm(mlir::ModuleOp module, Trace& trace);

}  // namespace nereid::compiler
