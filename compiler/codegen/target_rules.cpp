// The table of checkTarget. Sources: PTX ISA 8.8, notes of each instruction; the PTX versions that LLVM 22 asks for. The unit
// test compiles a sample of each row for each target, so a row that promises too much or too little fails there.
#include "compiler/codegen/check_target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace nereid::compiler {
namespace {

using mlir::Operation;
namespace nvvm = mlir::NVVM;

constexpr const char* kBlackwell = "sm_100a sm_103a sm_120a sm_121a";
constexpr const char* kConsumerBlackwell = "sm_120a sm_121a";

bool hasFloatResult(Operation* op) { return op->getResult(0).getType().isF32(); }
bool isByteMatrix(Operation* op) {
  auto type = op->getAttrOfType<nvvm::LdStMatrixEltTypeAttr>("eltType");
  return type && type.getValue() != nvvm::LdStMatrixEltType::B16;
}
bool writesCluster(Operation* op) {
  auto pointer = mlir::dyn_cast<mlir::LLVM::LLVMPointerType>(op->getOperand(0).getType());
  return pointer && pointer.getAddressSpace() != 3;
}
bool hasByteMask(Operation* op) { return static_cast<bool>(mlir::cast<nvvm::CpAsyncBulkSharedCTAToGlobalOp>(op).getByteMask()); }
bool isScaleFormat(mlir::Type type) { return mlir::isa<mlir::Float8E8M0FNUType>(type); }
bool fromScale(Operation* op) { return isScaleFormat(op->getAttrOfType<mlir::TypeAttr>("srcType").getValue()); }
bool toScale(Operation* op) { return isScaleFormat(op->getAttrOfType<mlir::TypeAttr>("dstTy").getValue()); }
bool roundsAtRandom(Operation* op) {
  auto mode = op->getAttrOfType<nvvm::FPRoundingModeAttr>("rnd");
  return mode && mode.getValue() == nvvm::FPRoundingMode::RS;
}
bool roundsToTiesAway(Operation* op) {
  auto mode = op->getAttrOfType<nvvm::FPRoundingModeAttr>("rnd");
  return mode && mode.getValue() == nvvm::FPRoundingMode::RNA;
}
bool isTensorMapPrefetch(Operation* op) { return mlir::cast<nvvm::PrefetchOp>(op).getTensormap(); }
bool isAsyncProxy(Operation* op) { return mlir::cast<nvvm::FenceProxyOp>(op).getKind() != nvvm::ProxyKind::alias; }
bool isRelaxed(Operation* op) {
  auto relaxed = op->getAttrOfType<mlir::BoolAttr>("relaxed");
  return relaxed && relaxed.getValue();
}
bool hasClusterScope(Operation* op) {
  auto scope = op->getAttrOfType<nvvm::MemScopeKindAttr>("scope");
  return (scope && scope.getValue() == nvvm::MemScopeKind::CLUSTER) || writesCluster(op);
}
bool waitsForParity(Operation* op) { return op->getOperand(1).getType().isInteger(32); }
bool hasCountOrScope(Operation* op) { return hasClusterScope(op) || op->getNumOperands() > 1; }

constexpr TargetRule kRules[] = {
    // Special registers.
    {"nvvm.read.ptx.sreg.cluster*", "", nullptr, 90, "", 78},
    {"nvvm.read.ptx.sreg.ncluster*", "", nullptr, 90, "", 78},
    {"nvvm.read.ptx.sreg.aggr.smem.size", "", nullptr, 90, "", 81},
    {"nvvm.read.ptx.sreg.*", "", nullptr, 80, "", 70},
    // Barriers, warps.
    {"nvvm.barrier0", "", nullptr, 80, "", 70},
    {"nvvm.barrier", "", nullptr, 80, "", 70},
    {"nvvm.barrier.arrive", "", nullptr, 80, "", 70},
    {"nvvm.bar.warp.sync", "", nullptr, 80, "", 70},
    {"nvvm.shfl.sync", "", nullptr, 80, "", 70},
    {"nvvm.vote.sync", "", nullptr, 80, "", 70},
    {"nvvm.match.sync", "", nullptr, 80, "", 70},
    {"nvvm.redux.sync", "on f32", hasFloatResult, 100, "sm_100a sm_103a", 86},
    {"nvvm.redux.sync", "", nullptr, 80, "", 70},
    {"nvvm.elect.sync", "", nullptr, 90, "", 80},
    {"nvvm.nanosleep", "", nullptr, 80, "", 70},
    {"nvvm.exit", "", nullptr, 80, "", 70},
    {"nvvm.memory.barrier", "", nullptr, 80, "", 70},
    {"nvvm.fence.proxy", "async", isAsyncProxy, 90, "", 80},
    {"nvvm.fence.proxy", "", nullptr, 80, "", 75},
    {"nvvm.fence.mbarrier.init", "", nullptr, 90, "", 80},
    {"nvvm.cluster.*", "", nullptr, 90, "", 78},
    {"nvvm.mapa", "", nullptr, 90, "", 78},
    {"nvvm.griddepcontrol", "", nullptr, 90, "", 78},
    {"nvvm.setmaxregister", "", nullptr, 90, "sm_90a sm_100a sm_103a sm_120a sm_121a", 80},
    // Memory barriers with phases.
    {"nvvm.mbarrier.init", "", nullptr, 80, "", 70},
    {"nvvm.mbarrier.inval", "", nullptr, 80, "", 70},
    {"nvvm.mbarrier.arrive", "with relaxed order", isRelaxed, 90, "", 86},
    {"nvvm.mbarrier.arrive", "with count or cluster scope", hasCountOrScope, 90, "", 80},
    {"nvvm.mbarrier.arrive", "", nullptr, 80, "", 70},
    {"nvvm.mbarrier.arrive.nocomplete", "", nullptr, 80, "", 70},
    {"nvvm.mbarrier.arrive.expect_tx", "", nullptr, 90, "", 80},
    {"nvvm.mbarrier.expect_tx", "", nullptr, 90, "", 80},
    {"nvvm.mbarrier.complete_tx", "", nullptr, 90, "", 80},
    {"nvvm.mbarrier.test.wait", "with relaxed order", isRelaxed, 90, "", 86},
    {"nvvm.mbarrier.test.wait", "with cluster scope", hasClusterScope, 90, "", 80},
    {"nvvm.mbarrier.test.wait", "by parity", waitsForParity, 80, "", 71},
    {"nvvm.mbarrier.test.wait", "", nullptr, 80, "", 70},
    {"nvvm.mbarrier.try_wait", "", nullptr, 90, "", 80},
    {"nvvm.mbarrier.try_wait.parity", "", nullptr, 90, "", 78},
    // Copies.
    {"nvvm.cp.async.shared.global", "", nullptr, 80, "", 70},
    {"nvvm.cp.async.commit.group", "", nullptr, 80, "", 70},
    {"nvvm.cp.async.wait.group", "", nullptr, 80, "", 70},
    {"nvvm.cp.async.mbarrier.arrive", "", nullptr, 80, "", 70},
    {"nvvm.cp.async.bulk.shared.cluster.global", "to shared::cluster", writesCluster, 90, "sm_90a", 80},
    {"nvvm.cp.async.bulk.shared.cluster.global", "to shared::cta", nullptr, 90, "", 86},
    {"nvvm.cp.async.bulk.global.shared.cta", "with byte mask", hasByteMask, 100, kBlackwell, 86},
    {"nvvm.cp.async.bulk.global.shared.cta", "", nullptr, 90, "", 80},
    {"nvvm.cp.async.bulk.prefetch", "", nullptr, 90, "", 80},
    {"nvvm.cp.async.bulk.commit.group", "", nullptr, 90, "", 80},
    {"nvvm.cp.async.bulk.wait_group", "", nullptr, 90, "", 80},
    {"nvvm.prefetch", "of a tensor map", isTensorMapPrefetch, 90, "", 80},
    {"nvvm.prefetch", "", nullptr, 90, "", 80},
    // Matrices.
    {"nvvm.ldmatrix", "of 8-bit or narrower elements", isByteMatrix, 100, kBlackwell, 86},
    {"nvvm.ldmatrix", "", nullptr, 80, "", 70},
    {"nvvm.stmatrix", "of 8-bit elements", isByteMatrix, 100, kBlackwell, 86},
    {"nvvm.stmatrix", "", nullptr, 90, "", 78},
    {"nvvm.mma.sync", "", nullptr, 80, "", 70},
    {"nvvm.mma.block_scale", "", nullptr, 120, kConsumerBlackwell, 87},
    {"nvvm.wgmma.*", "", nullptr, 0, "", 80},
    {"nvvm.tcgen05.*", "", nullptr, 0, "", 86},
    // Conversions.
    {"nvvm.convert.float.to.tf32", "to nearest, ties away", roundsToTiesAway, 80, "", 70},
    {"nvvm.convert.float.to.tf32", "", nullptr, 90, "", 78},
    {"nvvm.convert.f32x2.to.f16x2", "with random rounding", roundsAtRandom, 100, "sm_100a sm_103a", 87},
    {"nvvm.convert.f32x2.to.f16x2", "", nullptr, 80, "", 70},
    {"nvvm.convert.f32x2.to.bf16x2", "with random rounding", roundsAtRandom, 100, "sm_100a sm_103a", 87},
    {"nvvm.convert.f32x2.to.bf16x2", "", nullptr, 80, "", 70},
    {"nvvm.convert.f32x2.to.f8x2", "to ue8m0", toScale, 100, kBlackwell, 86},
    {"nvvm.convert.f32x2.to.f8x2", "", nullptr, 89, "", 81},
    {"nvvm.convert.f16x2.to.f8x2", "", nullptr, 89, "", 81},
    {"nvvm.convert.bf16x2.to.f8x2", "to ue8m0", nullptr, 100, kBlackwell, 86},
    {"nvvm.convert.f8x2.to.f16x2", "", nullptr, 89, "", 81},
    {"nvvm.convert.f8x2.to.bf16x2", "from ue8m0", fromScale, 100, kBlackwell, 86},
    {"nvvm.convert.f32x2.to.f4x2", "", nullptr, 100, kBlackwell, 86},
    {"nvvm.convert.f32x2.to.f6x2", "", nullptr, 100, kBlackwell, 86},
    {"nvvm.convert.f4x2.to.f16x2", "", nullptr, 100, kBlackwell, 86},
    {"nvvm.convert.f6x2.to.f16x2", "", nullptr, 100, kBlackwell, 86},
    // Arithmetic and bytes.
    {"nvvm.prmt", "", nullptr, 80, "", 70},
    {"nvvm.rcp.approx.ftz.f", "", nullptr, 80, "", 70},
    {"nvvm.dot.accumulate.*", "", nullptr, 80, "", 70},
    // Intrinsics without an op.
    {"llvm.nvvm.ex2.approx.ftz.v2bf16", "", nullptr, 90, "", 78},
    {"llvm.nvvm.ex2.approx.ftz.bf16", "", nullptr, 90, "", 78},
    {"llvm.nvvm.ex2.approx.ftz.f32", "", nullptr, 80, "", 70},
    {"llvm.nvvm.ex2.approx.f32", "", nullptr, 80, "", 70},
    {"llvm.nvvm.ex2.approx.f16", "", nullptr, 80, "", 70},
    {"llvm.nvvm.ex2.approx.v2f16", "", nullptr, 80, "", 70},
    {"llvm.nvvm.lg2.approx.*", "", nullptr, 80, "", 70},
    {"llvm.nvvm.rsqrt.approx.*", "", nullptr, 80, "", 70},
    {"llvm.nvvm.rcp.approx.*", "", nullptr, 80, "", 70},
    {"llvm.nvvm.sqrt.approx.*", "", nullptr, 80, "", 70},
    {"llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32", "", nullptr, 89, "", 84},
    {"llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32", "", nullptr, 89, "", 84},
    {"llvm.nvvm.mma.m16n8k32.row.col.kind.f8f6f4.*", "", nullptr, 120, kConsumerBlackwell, 87},
};

}  // namespace

std::span<const TargetRule> targetRules() { return kRules; }

const TargetRule* findTargetRule(Operation* op) {
  llvm::StringRef name = op->getName().getStringRef();
  if (auto call = mlir::dyn_cast<mlir::LLVM::CallIntrinsicOp>(op)) name = call.getIntrin();
  for (const TargetRule& rule : kRules) {
    llvm::StringRef pattern = rule.op;
    bool match = pattern.consume_back("*") ? name.starts_with(pattern) : name == pattern;
    if (match && (!rule.applies || rule.applies(op))) return &rule;
  }
  return nullptr;
}

}  // namespace nereid::compiler
