// What the GPU's and the CPU's way through LLVM share: translation to LLVM IR and the optimiser, with errors as values.
#pragma once
#include <memory>
#include <string>

#include "compiler/codegen/trace.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/result.h"

namespace nereid::compiler {

// Keeps what LLVM reports on a context (back-end errors, bad inline PTX) instead of letting it print and exit.
class LlvmDiagnostics {
 public:
  explicit LlvmDiagnostics(llvm::LLVMContext& context);
  ~LlvmDiagnostics();
  Status status(const std::string& doing) const;

 private:
  llvm::LLVMContext& context_;
  std::string errors_;
};

// Translates and sets triple and data layout of `machine`. Stage "translate", dump "llvmir".
Result<std::unique_ptr<llvm::Module>> translateModule(mlir::ModuleOp module, llvm::LLVMContext& context,
                                                      llvm::TargetMachine& machine, Trace& trace);

// kGpu: the few passes that straight code in registers needs. kHost: O3, without unrolling and vectorisation.
enum class OptimiserPasses { kGpu, kHost };
// Stage "optimise", dump "llvmir.opt".
Status optimise(llvm::Module& module, llvm::TargetMachine& machine, OptimiserPasses passes, Trace& trace);

std::string printLlvmModule(const llvm::Module& module);

}  // namespace nereid::compiler
