// From a GPU module to a Program that the emulator runs. The module is the one that goes to NVPTX, before code generation.
#pragma once
#include <memory>
#include <string>

#include "compiler/codegen/trace.h"
#include "compiler/emulator/program.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::emulator {

struct LoadOptions {
  bool optimise = true;  // the optimised form, as NVPTX gets it; else as translated
};

// `module`: llvm and nvvm ops only (lowerToLlvmDialect), in a context with registerCodegenDialects' registrations; it is not
// changed. The lines of its locations become the lines of findings. `symbol` may be empty where the module has one kernel. The
// target is checked as for PTX. Errors: kUnsupported that names an instruction or intrinsic that the emulator does not have, with
// its line; what moduleToPtx reports. Stages "check", "translate", "optimise", "decode"; dumps "llvmir", "llvmir.opt".
Result<std::shared_ptr<const Program>> loadProgram(mlir::ModuleOp module, const Target& target, const std::string& symbol,
                                                   compiler::Trace& trace, const LoadOptions& options = {});

// The same from LLVM IR for NVPTX. `places`: what the lines of debug locations number; null: they are lines of their files.
Result<std::shared_ptr<const Program>> loadProgram(const llvm::Module& module, const std::string& symbol,
                                                   const std::vector<SourceLine>* places = nullptr);

}  // namespace nereid::emulator
