// GPU: from loops, vectors and NVVM ops to a module of llvm and nvvm ops only.
#pragma once
#include "compiler/codegen/pass_table.h"

namespace nereid::compiler {

// The pass order of the GPU's last stretch; the table is the documentation.
PassTable gpuLoweringTable();

// Takes func, scf, cf, arith, math, vector, index, ub, llvm and nvvm ops; kernels are llvm.func with the unit attribute
// nvvm.kernel. Leaves llvm and nvvm ops. An op that survives is a kInternal error that names it. Dump: "llvm"; stage: "mlir".
Status lowerToLlvmDialect(mlir::ModuleOp module, Trace& trace);

// An error naming the first op outside builtin, llvm and nvvm.
Status checkOnlyLlvmDialect(mlir::ModuleOp module);

}  // namespace nereid::compiler
