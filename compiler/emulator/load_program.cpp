#include "compiler/emulator/load_program.h"

#include <fmt/format.h>

#include <map>

#include "compiler/codegen/check_target.h"
#include "compiler/codegen/llvm_module.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/codegen/mlir_diag.h"
#include "compiler/codegen/module_to_ptx.h"
#include "compiler/emulator/decoder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace nereid::emulator {
namespace {

// Locations reach LLVM IR only through a debug scope, which keeps lines but not files. So each different place gets a number,
// which goes through LLVM as the line; `places` has what the numbers mean (number 0 stays LLVM's "unknown").
Status numberLocations(mlir::ModuleOp module, std::vector<SourceLine>& places) {
  std::map<std::tuple<std::string, int, int>, int> numbers;
  places.assign(1, {});
  mlir::StringAttr file = mlir::StringAttr::get(module.getContext(), "numbered");
  module->walk([&](mlir::Operation* op) {
    auto at = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    int number = 0;
    if (at) {
      SourceLine place{at.getFilename().str(), static_cast<int>(at.getLine()), static_cast<int>(at.getColumn())};
      auto [known, fresh] = numbers.try_emplace({place.file, place.line, place.column}, static_cast<int>(places.size()));
      if (fresh) places.push_back(std::move(place));
      number = known->second;
    }
    op->setLoc(mlir::FileLineColLoc::get(file, static_cast<unsigned>(number), 1));
  });
  compiler::DiagCollector collector(module.getContext());
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass());
  if (mlir::failed(passes.run(module))) return collector.diag(Code::kInternal, "debug scopes", "report this");
  return {};
}

int numberAttribute(const llvm::Function& function, llvm::StringRef name) {
  int value = 0;
  if (function.hasFnAttribute(name)) function.getFnAttribute(name).getValueAsString().split(',').first.getAsInteger(10, value);
  return value;
}

}  // namespace

Result<std::shared_ptr<const Program>> loadProgram(const llvm::Module& module, const std::string& symbol,
                                                   const std::vector<SourceLine>* places) {
  const llvm::Function* kernel = nullptr;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() || function.getCallingConv() != llvm::CallingConv::PTX_Kernel) continue;
    if (symbol.empty() ? kernel != nullptr : function.getName() != symbol) {
      if (symbol.empty()) return Diag{Code::kUsage, "the module has several kernels", "emulator", "name one"};
      continue;
    }
    kernel = &function;
  }
  if (!kernel)
    return Diag{Code::kUsage, symbol.empty() ? "the module has no kernel" : "the module has no kernel '" + symbol + "'",
                "emulator", "check the symbol"};
  auto program = std::make_shared<Program>();
  program->symbol = kernel->getName().str();
  program->max_registers = numberAttribute(*kernel, "nvvm.maxnreg");
  program->max_threads = numberAttribute(*kernel, "nvvm.maxntid");
  NEREID_CHECK_OK(Decoder(*kernel, *program, places).run());
  return std::shared_ptr<const Program>(std::move(program));
}

Result<std::shared_ptr<const Program>> loadProgram(mlir::ModuleOp module, const Target& target, const std::string& symbol,
                                                   compiler::Trace& trace, const LoadOptions& options) {
  {
    compiler::StageTimer timer(trace, "check");
    NEREID_CHECK_OK(compiler::checkTarget(module, target));
    NEREID_CHECK_OK(compiler::checkOnlyLlvmDialect(module));
  }
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  std::vector<SourceLine> places;
  NEREID_CHECK_OK(numberLocations(*copy, places));
  NEREID_TRY(std::unique_ptr<llvm::TargetMachine> machine, compiler::createNvptxMachine(target));
  llvm::LLVMContext context;
  NEREID_TRY(std::unique_ptr<llvm::Module> llvm_module, compiler::translateModule(*copy, context, *machine, trace));
  if (options.optimise) NEREID_CHECK_OK(compiler::optimise(*llvm_module, *machine, compiler::OptimiserPasses::kGpu, trace));
  compiler::StageTimer timer(trace, "decode");
  return loadProgram(*llvm_module, symbol, &places);
}

}  // namespace nereid::emulator
