#include "compiler/codegen/lower_to_llvm.h"

#include "compiler/codegen/lower_gpu_math.h"
#include "compiler/codegen/mlir_diag.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Transforms/Passes.h"

namespace nereid::compiler {
namespace {

constexpr PassRow kGpuLowering[] = {
    {"cse", "first: what is left of it is converted by each row below", "", [] { return mlir::createCSEPass(); }},
    {"nereid-lower-gpu-math", "while vectors still have their shape; later passes would emit library calls", "",
     [] { return createLowerGpuMathPass(); }},
    {"convert-scf-to-cf", "loops and ifs to blocks", "cf", [] { return mlir::createSCFToControlFlowPass(); }},
    {"convert-vector-to-llvm", "before arith, so that no shape_cast or transpose is left behind unseen", "",
     [] { return mlir::createConvertVectorToLLVMPass(); }},
    {"convert-math-to-llvm", "fma, sqrt, floor, … as llvm.intr", "", [] { return mlir::createConvertMathToLLVMPass(); }},
    {"convert-arith-to-llvm", "scalars and what vectors left", "", [] { return mlir::createArithToLLVMConversionPass(); }},
    {"convert-index-to-llvm", "index arithmetic is 64 bits wide", "", [] { return mlir::createConvertIndexToLLVMPass(); }},
    {"convert-ub-to-llvm", "poison", "", [] { return mlir::createUBToLLVMConversionPass(); }},
    {"convert-cf-to-llvm", "branches", "", [] { return mlir::createConvertControlFlowToLLVMPass(); }},
    {"convert-func-to-llvm", "signatures last, when every value in them has its LLVM type", "",
     [] { return mlir::createConvertFuncToLLVMPass(); }},
    {"convert-nvvm-to-llvm", "nvvm ops without an intrinsic become inline PTX", "",
     [] { return mlir::createConvertNVVMToLLVMPass(); }},
    {"reconcile-unrealized-casts", "an op that is left over shows as a cast that stays", "llvm",
     [] { return mlir::createReconcileUnrealizedCastsPass(); }},
};

}  // namespace

PassTable gpuLoweringTable() { return kGpuLowering; }

Status checkOnlyLlvmDialect(mlir::ModuleOp module) {
  mlir::Operation* stranger = nullptr;
  module->walk([&](mlir::Operation* op) {
    llvm::StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "llvm" || dialect == "nvvm" || mlir::isa<mlir::ModuleOp>(op)) return mlir::WalkResult::advance();
    // A cast only shows that an op near it was not converted; that op makes the better message.
    bool is_cast = mlir::isa<mlir::UnrealizedConversionCastOp>(op);
    if (!is_cast || !stranger) stranger = op;
    return is_cast ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  if (!stranger) return {};
  return Diag{Code::kInternal, "op '" + stranger->getName().getStringRef().str() + "' is left after lowering",
              locationText(stranger->getLoc()), "a conversion pass has no pattern for it"};
}

Status lowerToLlvmDialect(mlir::ModuleOp module, Trace& trace) {
  NEREID_CHECK_OK(runPassTable(module, kGpuLowering, "mlir", trace));
  return checkOnlyLlvmDialect(module);
}

}  // namespace nereid::compiler
