// From a module of llvm and nvvm ops to PTX text, through LLVM IR, its optimiser and the NVPTX back end.
#pragma once
#include <memory>
#include <string>

#include "compiler/codegen/trace.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::compiler {

// LLVM's back end for a GPU target. Errors: an LLVM without NVPTX (kInternal).
Result<std::unique_ptr<llvm::TargetMachine>> createNvptxMachine(const Target& target);

// `module` must be free of other dialects (lowerToLlvmDialect) and its context must have registerCodegenDialects' registrations.
// Kernels are llvm.func with nvvm.kernel, launch limits nvvm.maxntid, nvvm.maxnreg, nvvm.minctasm; shared memory is an external
// llvm.mlir.global in address space 3. The PTX is for target.name at target.ptx_version.
// Multiplications and additions of f32 fuse into fma as nvcc does it; a division or square root is IEEE unless the op has afn.
// Each call has an LLVM context of its own: calls on different MLIR contexts run in parallel.
// Errors: kUnsupported from checkTarget, kInternal with LLVM's message. Dumps "llvmir", "llvmir.opt"; stages "check",
// "translate", "optimise", "codegen".
Result<std::string> moduleToPtx(mlir::ModuleOp module, const Target& target, Trace& trace);

// moduleToPtx without the check before it: LLVM ends the process on an op that the target lacks. For tests of the check itself.
Result<std::string> moduleToPtxUnchecked(mlir::ModuleOp module, const Target& target, Trace& trace);

}  // namespace nereid::compiler
