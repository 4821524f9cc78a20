// One function an instruction: the only place of the GPU lowering that builds NVVM ops. Semantics: PTX ISA 8.8.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace nereid::gpu {

enum class Product { kF16, kBF16, kE4M3 };

class NvvmEmitter {
 public:
  explicit NvvmEmitter(mlir::OpBuilder& builder) : b(builder) {}

  mlir::Value threadId(mlir::Location loc);  // x, i32
  mlir::Value blockId(mlir::Location loc);   // x, i32

  // mma.sync row.col, f32 sum: m16n8k16, words are vector<2xT>; m16n8k32 of e4m3, words are i32. a: 4 words, b: 2; c: 4 f32.
  // Returns 4 f32.
  llvm::SmallVector<mlir::Value, 4> mma(mlir::Location loc, Product product, mlir::ValueRange a, mlir::ValueRange b,
                                        mlir::ValueRange c);
  // ldmatrix.x{count}: i32 words.
  llvm::SmallVector<mlir::Value, 4> ldmatrix(mlir::Location loc, mlir::Value address, int count, bool transposed);

  mlir::Value shuffleXor(mlir::Location loc, mlir::Value value, int mask);       // i32 or f32
  mlir::Value shuffle(mlir::Location loc, mlir::Value value, mlir::Value lane);  // i64: the value of another lane
  mlir::Value broadcastLane0(mlir::Location loc, mlir::Value value);             // i32
  mlir::Value any(mlir::Location loc, mlir::Value predicate);                    // i1
  mlir::Operation* syncWarp(mlir::Location loc);
  mlir::Operation* barrier(mlir::Location loc, mlir::Value id, int threads);  // bar.sync id, threads
  void barrierAll(mlir::Location loc);
  void setMaxRegisters(mlir::Location loc, int count, bool increase);

  void mbarrierInit(mlir::Location loc, mlir::Value barrier, int count);
  void fenceMbarrierInit(mlir::Location loc);
  void fenceProxyAsyncShared(mlir::Location loc);
  void mbarrierArrive(mlir::Location loc, mlir::Value barrier);
  void mbarrierArriveExpectTx(mlir::Location loc, mlir::Value barrier, mlir::Value bytes);
  // One attempt: true when the phase of `parity` has completed. `suspend`: try_wait (sm_90 on), else test_wait.
  mlir::Value mbarrierTestParity(mlir::Location loc, mlir::Value barrier, mlir::Value parity, bool suspend);
  void cpAsync(mlir::Location loc, mlir::Value shared, mlir::Value global, int bytes, mlir::Value read_bytes);
  void cpAsyncArriveNoInc(mlir::Location loc, mlir::Value barrier);
  void bulkCopy(mlir::Location loc, mlir::Value shared, mlir::Value global, mlir::Value barrier, mlir::Value bytes);

  // prmt: bytes 0 … 3 are those of `low`, 4 … 7 those of `high`, both i32; selector has four bits a byte.
  mlir::Value permute(mlir::Location loc, mlir::Value low, mlir::Value high, uint32_t selector);
  mlir::Value e4m3x2ToF16x2(mlir::Location loc, mlir::Value pair);                // vector<2xi8> → vector<2xf16>
  mlir::Value f32x2ToE4m3x2(mlir::Location loc, mlir::Value hi, mlir::Value lo);  // i16; saturating, nearest even

  mlir::Value constant(mlir::Location loc, int32_t x);

 private:
  mlir::OpBuilder& b;
};

// Marks a function as a kernel and sets its launch bounds.
void markKernel(mlir::Operation* func, int threads, int max_registers);

}  // namespace nereid::gpu
