#include "compiler/host/lower_to_host_llvm.h"

#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/host/expand_f8.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace nereid::compiler {
namespace {

std::unique_ptr<mlir::Pass> createExpandNarrowFloats() {
  mlir::arith::ArithExpandOpsPassOptions options;
  options.includeBf16 = true;
  options.includeF4E2M1 = true;
  return mlir::arith::createArithExpandOpsPass(options);
}

constexpr PassRow kHostLowering[] = {
    {"cse", "first: canonicalize on code with duplicates takes seven times as long", "", [] { return mlir::createCSEPass(); }},
    {"convert-vector-to-scf", "transfers of more than one dimension become loops", "",
     [] { return mlir::createConvertVectorToSCFPass(); }},
    {"expand-strided-metadata", "subviews become address arithmetic in affine ops, which LLVM can simplify", "",
     [] { return mlir::memref::createExpandStridedMetadataPass(); }},
    {"lower-affine", "affine ops of the pass before to arith", "", [] { return mlir::createLowerAffinePass(); }},
    {"convert-scf-to-cf", "loops and ifs to blocks", "cf", [] { return mlir::createSCFToControlFlowPass(); }},
    {"nereid-expand-f8", "before arith-expand, which takes the bf16 conversions that it leaves", "",
     [] { return createExpandF8Pass(); }},
    {"arith-expand", "bf16, f4 and rounded divisions, before LLVM types hide them", "", createExpandNarrowFloats},
    {"convert-vector-to-llvm", "before arith, so that no shape_cast or transpose is left behind unseen", "",
     [] { return mlir::createConvertVectorToLLVMPass(); }},
    {"convert-math-to-llvm", "functions that LLVM knows, which it can vectorise", "",
     [] { return mlir::createConvertMathToLLVMPass(); }},
    {"convert-math-to-libm", "the other functions", "", [] { return mlir::createConvertMathToLibmPass(); }},
    {"finalize-memref-to-llvm", "descriptors and addresses", "", [] { return mlir::createFinalizeMemRefToLLVMConversionPass(); }},
    {"convert-arith-to-llvm", "scalars and what vectors left", "", [] { return mlir::createArithToLLVMConversionPass(); }},
    {"convert-index-to-llvm", "index arithmetic is 64 bits wide", "", [] { return mlir::createConvertIndexToLLVMPass(); }},
    {"convert-ub-to-llvm", "poison", "", [] { return mlir::createUBToLLVMConversionPass(); }},
    {"convert-cf-to-llvm", "branches", "", [] { return mlir::createConvertControlFlowToLLVMPass(); }},
    {"convert-func-to-llvm", "signatures last, when every value in them has its LLVM type", "",
     [] { return mlir::createConvertFuncToLLVMPass(); }},
    {"canonicalize", "folds the casts between the conversions", "", [] { return mlir::createCanonicalizerPass(); }},
    {"cse", "constants that each conversion made anew", "", [] { return mlir::createCSEPass(); }},
    {"reconcile-unrealized-casts", "an op that is left over shows as a cast that stays", "llvm",
     [] { return mlir::createReconcileUnrealizedCastsPass(); }},
};

}  // namespace

PassTable hostLoweringTable() { return kHostLowering; }

Status lowerToHostLlvm(mlir::ModuleOp module, Trace& trace) {
  NEREID_CHECK_OK(runPassTable(module, kHostLowering, "mlir", trace));
  return checkOnlyLlvmDialect(module);
}

}  // namespace nereid::compiler
