// Elementary functions on the GPU: the hardware's approximations, never libdevice.
#pragma once
#include <memory>

#include "mlir/Pass/Pass.h"

namespace nereid::compiler {

// Before: math.exp2, exp, log2, log, rsqrt, tanh on f32 scalars or vectors; arith.ceildiv*, floordiv*. After: NVVM intrinsics and
// arith. Ops that LLVM's NVPTX back end has instructions for (fma, sqrt, absf, floor, …) stay for convert-math-to-llvm; every
// other math op is an error that names it, since LLVM would end the process on the unresolved library call. Accuracy (PTX
// ISA 8.8, ex2, lg2, rsqrt): exp2 2 ulp and results below 2^-126 become 0; log2 relative error 2^-22; rsqrt 2^-22.4.
std::unique_ptr<mlir::Pass> createLowerGpuMathPass();

}  // namespace nereid::compiler
