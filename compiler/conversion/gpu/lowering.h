// Lowering of laid-out tile IR to code for one thread: the state that the files lower_*.cpp share.
//
// Each tile value becomes a list of registers (a Fragment): 32-bit words of packed elements for 16 and 8-bit types, one register
// an element otherwise. Tiles in shared memory become an address. The result is llvm, nvvm, scf, arith and vector on scalars.
#pragma once
#include <map>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/conversion/gpu/nvvm_emitter.h"
#include "compiler/dialect/tile_dialect.h"
#include "compiler/transforms/axis_info.h"
#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::gpu {

using Fragment = llvm::SmallVector<mlir::Value>;

// A tile in shared memory: element [i, j] lies at base + offset + i·pitch + j·size (i and j exchanged if column_major).
struct SharedTile {
  mlir::Value base;  // !llvm.ptr<3>
  int offset = 0;
  int pitch = 0;
  bool column_major = false;
  mlir::RankedTensorType type;
  int addends = 1, addend_bytes = 0;  // tiles side by side, of which the value is the sum
};

// Where a channel's barriers and payload lie in the block's shared memory.
struct ChannelPlan {
  int depth = 0, slot_bytes = 0, base = 0;
  int full = 0, empty = 0;          // offsets of the barrier arrays
  std::vector<SharedTile> payload;  // with offsets in a slot and no base
  int writer_warps = 0, reader_warps = 0;
  bool async = false;  // some payload comes by cp.async
  bool bulk = false;   // some payload comes by bulk copies
};

// The warps that execute the code being lowered together.
struct WarpGroup {
  int warps = 1;
  int barrier = 0;    // named barrier of the first group; 0 when it is the whole block
  mlir::Value warp;   // index in the group, i32, the same for the lanes of a warp
  int groups = 1;     // that run this code
  mlir::Value index;  // of the group; null if there is one
};

class Lowering {
 public:
  Lowering(mlir::func::FuncOp func, const Target& target);
  Status run();

  int threads() const { return threads_; }
  int sharedBytes() const { return shared_bytes_; }

 private:
  // driver (lower_kernel.cpp)
  void lowerBlock(mlir::Block& block);
  void lowerOp(mlir::Operation* op);
  void lowerFor(mlir::Operation* op);
  void lowerIf(mlir::Operation* op);
  void lowerWarps(tile::WarpsOp op);
  void planChannels();
  int launchRegisters();
  void fail(mlir::Operation* op, std::string what, std::string fix = "");

  // fragments (fragments.cpp)
  static int packOf(mlir::Type element, int registers);
  mlir::Type storageOf(mlir::Type element, int pack);
  llvm::SmallVector<mlir::Type> fragmentTypes(mlir::RankedTensorType type);
  mlir::Type scalarOf(mlir::Type element);  // storage of one element: floats of 8 bits are i8
  Fragment unpack(mlir::Location loc, const Fragment& f, mlir::Type element, int registers);
  Fragment pack(mlir::Location loc, const Fragment& scalars, mlir::Type element);
  mlir::Value wordToStorage(mlir::Location loc, mlir::Value word, mlir::Type storage);
  mlir::Value storageToWord(mlir::Location loc, mlir::Value storage);
  const Fragment& get(mlir::Value v);
  void set(mlir::Value v, Fragment f);
  mlir::Value scalar(mlir::Value v);  // value of a non-tile operand
  layout::Layout layoutOf(mlir::Value v);
  mlir::Value coordinate(mlir::Location loc, const layout::Layout& l, int dim);  // lane and warp part, i32
  mlir::Value weighted(mlir::Location loc, mlir::Value bits, const std::vector<layout::Coord>& bases, int dim);
  mlir::Value owns(mlir::Location loc, const layout::Layout& l);  // i1: this thread holds the first copy; null if all do

  // ops
  void lowerElementwise(mlir::Operation* op);  // lower_elementwise.cpp
  mlir::Block::iterator lowerGuardedProducts(mlir::Block::iterator first, mlir::Block::iterator end);
  void lowerConversion(mlir::Operation* op);
  void lowerRange(tile::RangeOp op);
  void lowerBroadcast(tile::BroadcastOp op);
  void lowerConstant(mlir::Operation* op);
  void lowerLoad(tile::LoadOp op);  // lower_memory.cpp
  void lowerStore(tile::StoreOp op);
  void lowerLoadScalar(tile::LoadScalarOp op);
  void lowerTicket(tile::TicketOp op);
  void lowerView(tile::ViewOp op);  // lower_shared.cpp
  void lowerTrans(tile::TransOp op);
  void lowerConvert(tile::ConvertLayoutOp op);
  Fragment loadShared(mlir::Location loc, const SharedTile& tile, const layout::Layout& l);
  Fragment loadSum(mlir::Location loc, SharedTile tile, const layout::Layout& l);
  SharedTile ownAddend(mlir::Location loc, SharedTile tile, uint32_t warp_bits);
  std::optional<Fragment> loadMatrices(mlir::Location loc, const SharedTile& tile, const layout::Layout& l);
  std::optional<Fragment> loadPairedMatrices(mlir::Location loc, const SharedTile& tile, const layout::Layout& l);
  std::optional<Fragment> matrixWords(mlir::Location loc, const SharedTile& tile, const layout::Layout& l, bool swap_bytes);
  void storeShared(mlir::Location loc, const SharedTile& tile, const layout::Layout& l, const Fragment& f);
  void exchange(llvm::MutableArrayRef<tile::ConvertLayoutOp> ops);
  std::optional<Fragment> moveRegisters(mlir::Location loc, const Fragment& f, const layout::Layout& from,
                                        const layout::Layout& to, mlir::Type element);
  void lowerReduce(tile::ReduceOp op);  // lower_reduce.cpp
  mlir::Value combine(mlir::Location loc, tile::ReduceKind kind, mlir::Value a, mlir::Value b);
  void lowerDot(tile::DotOp op);          // lower_dot.cpp
  void lowerAcquire(tile::AcquireOp op);  // lower_channels.cpp
  void lowerCopyRows(tile::CopyRowsOp op);
  void lowerPut(tile::PutOp op);
  void lowerCommit(tile::CommitOp op);
  void lowerWait(tile::WaitOp op);
  void lowerRelease(tile::ReleaseOp op);
  void initBarriers(mlir::Location loc);
  void waitParity(mlir::Location loc, mlir::Value barrier, mlir::Value parity);
  mlir::Value barrierOf(mlir::Location loc, const ChannelPlan& plan, bool full, mlir::Value slot);
  mlir::Value slotBase(mlir::Location loc, const ChannelPlan& plan, mlir::Value slot);

  // small helpers
  mlir::Value i32(mlir::Location loc, int x) { return nv_.constant(loc, x); }
  mlir::Value add(mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value addConstant(mlir::Location loc, mlir::Value a, int x);
  mlir::Value mulConstant(mlir::Location loc, mlir::Value a, int x);
  mlir::Value sharedAddress(mlir::Location loc, int offset);
  mlir::Value gep(mlir::Location loc, mlir::Value pointer, mlir::Value bytes);
  mlir::Value gep(mlir::Location loc, mlir::Value pointer, int bytes);
  mlir::Value elementAt(mlir::Location loc, mlir::Value base, mlir::Value offset, int bytes);
  mlir::Value global(mlir::Location loc, mlir::Value pointer);  // addrspace 1
  int allocate(int bytes, int align);
  mlir::Value scratch(mlir::Location loc, int bytes);  // of the group's own
  mlir::Operation* groupBarrier(mlir::Location loc);
  void removeReuseBarriers();

  mlir::func::FuncOp func_;
  Target target_;
  mlir::OpBuilder b_;
  NvvmEmitter nv_;
  tile::AxisAnalysis axis_;
  mlir::IRMapping scalars_;
  llvm::DenseMap<mlir::Value, Fragment> fragments_;
  llvm::DenseMap<mlir::Value, SharedTile> shared_;
  llvm::DenseMap<mlir::Value, ChannelPlan> channels_;
  llvm::DenseMap<mlir::Value, mlir::Value> transaction_bytes_;  // channel → bytes this lane's bulk copies bring to the open slot
  mlir::Value lane_, thread_, shared_base_;
  WarpGroup group_;
  llvm::SmallVector<std::pair<mlir::Operation*, mlir::Operation*>> exchange_barriers_;  // before scratch is written; after
  int threads_ = 0, shared_bytes_ = 0;
  Status status_;
};

}  // namespace nereid::gpu
