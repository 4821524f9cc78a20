// lower_kernel: laid-out tile IR → llvm, nvvm, scf, arith and vector for one thread.
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::gpu {

struct LaunchShape {
  int threads = 0;
  int shared_bytes = 0;  // dynamic
};

// Before: assign_layouts. After: no tile op; each kernel is an llvm.func marked nvvm.kernel with its launch bounds.
// Errors: an op or layout without a lowering, shared memory beyond the target's limit.
Result<LaunchShape> lowerKernel(mlir::ModuleOp module, const Target& target);

}  // namespace nereid::gpu
