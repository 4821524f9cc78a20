// The dialects that code generation takes, and their translations to LLVM IR.
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace nereid::compiler {

// Registers builtin, llvm, nvvm with their translations, and the dialects that lowerToLlvmDialect and lowerToHostLlvm take apart
// (func, scf, cf, arith, math, vector, memref, affine, index, ub). Nothing else: an op of another dialect cannot reach LLVM.
void registerCodegenDialects(mlir::DialectRegistry& registry);

}  // namespace nereid::compiler
