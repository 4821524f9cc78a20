// NVVM ops and intrinsics.
#include "compiler/conversion/gpu/nvvm_emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace nereid::gpu {
using namespace mlir;

namespace {
constexpr int kFullWarp = -1;
}

Value NvvmEmitter::constant(Location loc, int32_t x) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(x)); }

Value NvvmEmitter::threadId(Location loc) { return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()); }
Value NvvmEmitter::blockId(Location loc) { return NVVM::BlockIdXOp::create(b, loc, b.getI32Type()); }

SmallVector<Value, 4> NvvmEmitter::mma(Location loc, Product product, ValueRange a, ValueRange bb, ValueRange c) {
  Type f32 = b.getF32Type();
  Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  SmallVector<Value> x(a), y(bb);
  SmallVector<Value, 4> out;
  const auto unpack = [&](Value sums) {
    for (int i = 0; i < 4; i++) out.push_back(LLVM::ExtractValueOp::create(b, loc, sums, i));
    return out;
  };
  if (product == Product::kE4M3) {  // the op has no fp8 types
    x.append(y);
    x.append(c.begin(), c.end());
    auto name = b.getStringAttr("llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32");
    return unpack(LLVM::CallIntrinsicOp::create(b, loc, result, name, x).getResult(0));
  }
  std::optional<std::array<NVVM::MMATypes, 2>> types;
  if (product == Product::kBF16) {  // the op takes bf16 fragments as words
    for (auto* list : {&x, &y})
      for (Value& v : *list) v = LLVM::BitcastOp::create(b, loc, b.getI32Type(), v);
    types = {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
  }
  auto op = NVVM::MmaOp::create(b, loc, result, x, y, c, ArrayRef<int64_t>{16, 8, 16}, std::nullopt, std::nullopt, types,
                                std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return unpack(op.getRes());
}

SmallVector<Value, 4> NvvmEmitter::ldmatrix(Location loc, Value address, int count, bool transposed) {
  Type i32 = b.getI32Type();
  Type result = count == 1 ? i32 : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, i32)));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  auto op =
      NVVM::LdMatrixOp::create(b, loc, result, address, static_cast<uint32_t>(count),
                               transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> out;
  if (count == 1)
    out.push_back(op.getRes());
  else
    for (int i = 0; i < count; i++) out.push_back(LLVM::ExtractValueOp::create(b, loc, op.getRes(), i));
  return out;
}

Value NvvmEmitter::shuffleXor(Location loc, Value value, int mask) {
  return NVVM::ShflOp::create(b, loc, value.getType(), constant(loc, kFullWarp), value, constant(loc, mask), constant(loc, 31),
                              NVVM::ShflKind::bfly, UnitAttr());
}

Value NvvmEmitter::shuffle(Location loc, Value value, Value lane) {
  Value width = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value halves[2] = {value, arith::ShRUIOp::create(b, loc, value, width)};
  for (Value& half : halves) {
    Value word = arith::TruncIOp::create(b, loc, b.getI32Type(), half);
    Value got = NVVM::ShflOp::create(b, loc, word.getType(), constant(loc, kFullWarp), word, lane, constant(loc, 31),
                                     NVVM::ShflKind::idx, UnitAttr());
    half = arith::ExtUIOp::create(b, loc, b.getI64Type(), got);
  }
  return arith::OrIOp::create(b, loc, arith::ShLIOp::create(b, loc, halves[1], width), halves[0]);
}

Value NvvmEmitter::broadcastLane0(Location loc, Value value) {
  return NVVM::ShflOp::create(b, loc, value.getType(), constant(loc, kFullWarp), value, constant(loc, 0), constant(loc, 31),
                              NVVM::ShflKind::idx, UnitAttr());
}

Value NvvmEmitter::any(Location loc, Value predicate) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), constant(loc, kFullWarp), predicate, NVVM::VoteSyncKind::any);
}

Operation* NvvmEmitter::syncWarp(Location loc) { return NVVM::SyncWarpOp::create(b, loc, constant(loc, kFullWarp)); }

Operation* NvvmEmitter::barrier(Location loc, Value id, int threads) {
  return NVVM::BarrierOp::create(b, loc, TypeRange{}, id, constant(loc, threads), NVVM::BarrierReductionAttr(), Value());
}

void NvvmEmitter::barrierAll(Location loc) { NVVM::BarrierOp::create(b, loc); }

void NvvmEmitter::setMaxRegisters(Location loc, int count, bool increase) {
  NVVM::SetMaxRegisterOp::create(b, loc, count,
                                 increase ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease);
}

void NvvmEmitter::mbarrierInit(Location loc, Value barrier, int count) {
  NVVM::MBarrierInitOp::create(b, loc, barrier, constant(loc, count), Value());
}
void NvvmEmitter::fenceMbarrierInit(Location loc) { NVVM::FenceMbarrierInitOp::create(b, loc); }

void NvvmEmitter::fenceProxyAsyncShared(Location loc) {
  NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKind::async_shared,
                             NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
}

void NvvmEmitter::mbarrierArrive(Location loc, Value barrier) {
  NVVM::MBarrierArriveOp::create(b, loc, b.getI64Type(), barrier, Value());
}

void NvvmEmitter::mbarrierArriveExpectTx(Location loc, Value barrier, Value bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(b, loc, b.getI64Type(), barrier, bytes, NVVM::MemScopeKind::CTA, false, Value());
}

Value NvvmEmitter::mbarrierTestParity(Location loc, Value barrier, Value parity, bool suspend) {
  if (suspend) return NVVM::MBarrierTryWaitOp::create(b, loc, b.getI1Type(), barrier, parity, Value());
  return NVVM::MBarrierTestWaitOp::create(b, loc, b.getI1Type(), barrier, parity);
}

void NvvmEmitter::cpAsync(Location loc, Value shared, Value global, int bytes, Value read_bytes) {
  NVVM::CpAsyncOp::create(b, loc, shared, global, static_cast<uint32_t>(bytes),
                          bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA, read_bytes);
}

void NvvmEmitter::cpAsyncArriveNoInc(Location loc, Value barrier) {
  NVVM::CpAsyncMBarrierArriveOp::create(b, loc, barrier, true);
}

void NvvmEmitter::bulkCopy(Location loc, Value shared, Value global, Value barrier, Value bytes) {
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, loc, shared, global, barrier, bytes, Value(), Value());
}

Value NvvmEmitter::permute(Location loc, Value low, Value high, uint32_t selector) {
  return NVVM::PermuteOp::create(b, loc, b.getI32Type(), low, high, constant(loc, static_cast<int32_t>(selector)),
                                 NVVM::PermuteMode::DEFAULT);
}

Value NvvmEmitter::e4m3x2ToF16x2(Location loc, Value pair) {
  return NVVM::ConvertF8x2ToF16x2Op::create(b, loc, VectorType::get({2}, b.getF16Type()), pair, false,
                                            Float8E4M3FNType::get(b.getContext()));
}

Value NvvmEmitter::f32x2ToE4m3x2(Location loc, Value hi, Value lo) {
  return NVVM::ConvertF32x2ToF8x2Op::create(b, loc, b.getI16Type(), hi, lo, NVVM::FPRoundingMode::RN,
                                            NVVM::SaturationMode::SATFINITE, false, Float8E4M3FNType::get(b.getContext()));
}

void markKernel(Operation* func, int threads, int max_registers) {
  Builder b(func->getContext());
  func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), b.getDenseI32ArrayAttr({threads}));
  if (max_registers > 0) func->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), b.getI32IntegerAttr(max_registers));
}

}  // namespace nereid::gpu
