// State of the CPU lowering, shared by its files.
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/dialect/tile_dialect.h"
#include "runtime/base/result.h"

namespace nereid::cpu {

// A place in a tile: row `i` (null for vectors) and column `j`; both index values.
struct Place {
  mlir::Value i, j;
};

class HostLowering {
 public:
  explicit HostLowering(mlir::func::FuncOp func) : func_(func), b_(func.getContext()) {}
  Status run();

 private:
  // lower_tile_to_host.cpp: the walk
  void lowerBlock(mlir::Block& block);
  void lowerOp(mlir::Operation* op);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void fail(mlir::Operation* op, std::string what);
  mlir::Value scalar(mlir::Value v) { return scalars_.lookupOrDefault(v); }

  // evaluate.cpp: elements of a tile where they are needed
  bool isInline(mlir::Value v);
  // `width` neighbouring elements of the last dimension as a vector; width 1: a scalar.
  mlir::Value evaluate(mlir::Location loc, mlir::Value v, Place at, int64_t width);
  mlir::Value evaluateView(mlir::Location loc, tile::ViewOp view, Place at, int64_t width);
  void materialize(mlir::Value v);
  void storeInto(mlir::Location loc, mlir::Value buffer, mlir::Value v);
  mlir::Value bufferOf(mlir::Value v);
  mlir::Value newBuffer(mlir::RankedTensorType type, mlir::Type element = {});
  mlir::Value readBuffer(mlir::Location loc, mlir::Value buffer, mlir::Type element, Place at, int64_t width);
  void writeBuffer(mlir::Location loc, mlir::Value buffer, mlir::Value x, Place at);
  static int64_t widthOf(mlir::RankedTensorType type);
  // Calls body(place, width) for every chunk of a tile of this shape.
  void forEach(mlir::Location loc, mlir::RankedTensorType type, int64_t width, llvm::function_ref<void(Place)> body);
  void loop(mlir::Location loc, int64_t count, int64_t step, llvm::function_ref<void(mlir::Value)> body);

  // lower_ops.cpp: ops with a loop of their own
  void lowerLoad(tile::LoadOp op);
  void lowerStore(tile::StoreOp op);
  void lowerGather(tile::GatherRowsOp op);
  void lowerScatter(tile::ScatterRowsOp op);
  void lowerReduce(tile::ReduceOp op);
  void lowerDot(tile::DotOp op);
  void lowerTrans(tile::TransOp op);
  void lowerBytes(tile::ViewOp op);
  void lowerTicket(tile::TicketOp op);
  mlir::Value combine(mlir::Location loc, tile::ReduceKind kind, mlir::Value a, mlir::Value b);
  mlir::Value operandF32(mlir::Location loc, mlir::Value v);

  mlir::Value index(mlir::Location loc, int64_t x);
  mlir::Value address(mlir::Location loc, mlir::Value base, mlir::Value byte_offset);
  mlir::Value toI64(mlir::Location loc, mlir::Value v);

  mlir::func::FuncOp func_;
  mlir::OpBuilder b_;
  mlir::Block* entry_ = nullptr;  // buffers are allocated at its start
  mlir::IRMapping scalars_;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers_;
  mlir::Value block_;
  Status status_;
};

// Memory holds i1 as a byte and 8-bit floats as their code.
mlir::Type storageType(mlir::Type element);
mlir::RankedTensorType tensorOf(mlir::Value v);
// Rows of bytes, as gathers make them: a view of them reads values; a view of anything else makes bytes.
bool isByteRows(mlir::Value v);

}  // namespace nereid::cpu
