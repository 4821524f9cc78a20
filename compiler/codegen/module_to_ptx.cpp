#include "compiler/codegen/module_to_ptx.h"

#include <fmt/format.h>

#include <mutex>

#include "compiler/codegen/check_target.h"
#include "compiler/codegen/llvm_module.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetOptions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

// LLVM's entry points of the back end; its header of all targets would pull each of them into a static link.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace nereid::compiler {
namespace {

Status checkHasKernel(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (function->hasAttr("nvvm.kernel") && !function.isExternal()) return {};
  }
  return Diag{Code::kInternal, "the module has no kernel", "moduleToPtx",
              "give the entry function the unit attribute nvvm.kernel"};
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> createNvptxMachine(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!back_end) return Diag{Code::kInternal, "LLVM has no NVPTX back end: " + error, "LLVM", "build against an LLVM with NVPTX"};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(
      back_end->createTargetMachine(triple, target.name, fmt::format("+ptx{}", target.ptx_version), options, std::nullopt,
                                    std::nullopt, llvm::CodeGenOptLevel::Less));
  if (!machine) return Diag{Code::kInternal, "LLVM cannot make a machine for " + target.name, "LLVM", "check the target's name"};
  return machine;
}

Result<std::string> moduleToPtx(mlir::ModuleOp module, const Target& target, Trace& trace) {
  {
    StageTimer timer(trace, "check");
    NEREID_CHECK_OK(checkTarget(module, target));
    NEREID_CHECK_OK(checkOnlyLlvmDialect(module));
    NEREID_CHECK_OK(checkHasKernel(module));
  }
  return moduleToPtxUnchecked(module, target, trace);
}

Result<std::string> moduleToPtxUnchecked(mlir::ModuleOp module, const Target& target, Trace& trace) {
  NEREID_TRY(std::unique_ptr<llvm::TargetMachine> machine, createNvptxMachine(target));
  llvm::LLVMContext context;
  NEREID_TRY(std::unique_ptr<llvm::Module> llvm_module, translateModule(module, context, *machine, trace));
  NEREID_CHECK_OK(optimise(*llvm_module, *machine, OptimiserPasses::kGpu, trace));

  StageTimer timer(trace, "codegen");
  LlvmDiagnostics diagnostics(context);
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Diag{Code::kInternal, "NVPTX cannot emit assembly", "LLVM", "build against an LLVM with NVPTX's asm printer"};
  passes.run(*llvm_module);
  NEREID_CHECK_OK(diagnostics.status("PTX generation for " + target.name));
  return std::string(ptx);
}

}  // namespace nereid::compiler
