// LLVM IR to the emulator's ops: the state that the files decode_*.cpp share. Values of one function get columns; constants
// become columns that every warp starts with; phis become moves on the edges between blocks. Ops that only rename components
// (extractvalue, shufflevector with constant lanes, zext to 32 bits, …) cost nothing: their columns are their operands'.
#pragma once
#include <map>
#include <optional>

#include "compiler/emulator/handlers.h"
#include "compiler/emulator/program.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "runtime/base/result.h"

namespace nereid::emulator {

// The type of one component.
struct Component {
  Scalar scalar = Scalar::kInt32;
  uint32_t bits = 32;
  bool wide() const { return scalar == Scalar::kInt64 || scalar == Scalar::kF64; }
  uint64_t mask() const { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
};
using Components = llvm::SmallVector<Component, 4>;
using Columns = llvm::SmallVector<Column, 4>;

class Decoder {
 public:
  // `places`: what the lines of debug locations number; null: they are lines of their files.
  Decoder(const llvm::Function& function, Program& program, const std::vector<SourceLine>* places);
  Status run();

 private:
  // types and values (decode_values.cpp)
  bool flatten(llvm::Type* type, Components& out);
  Components componentsOf(llvm::Type* type);
  bool placesOf(llvm::Type* type, uint64_t offset,
                llvm::SmallVectorImpl<uint32_t>& places);  // byte offset << 8 | bytes, a component
  const Columns& columns(const llvm::Value* value);
  Column column(const llvm::Value* value) { return columns(value)[0]; }
  Columns makeColumns(llvm::Type* type);
  Column makeColumn(bool wide);
  Column constantColumn(uint64_t value, bool wide);
  bool constantComponents(const llvm::Constant* constant, llvm::SmallVectorImpl<uint64_t>& out);
  bool writeConstant(const llvm::Constant* constant, uint8_t* to);
  void layOutGlobals();
  void define(const llvm::Value* value, Columns columns) { values_[value] = std::move(columns); }
  const Columns& result(const llvm::Instruction& instruction);  // fresh columns

  // blocks (decode_blocks.cpp)
  llvm::SmallVector<const llvm::BasicBlock*> orderBlocks();
  void patchEdges();
  uint64_t edgeTarget(const llvm::BasicBlock* from, const llvm::BasicBlock* to);
  Op& emit(Handler run, std::string name = "");
  Op& emitWithList(Handler run, std::string name, llvm::ArrayRef<Column> results, llvm::ArrayRef<Column> operands);
  uint32_t lineOf(const llvm::Instruction& instruction);
  void fail(const llvm::Value& what, std::string why);

  // instructions (decode_instructions.cpp)
  void decode(const llvm::Instruction& instruction);
  void decodeBinary(const llvm::BinaryOperator& op);
  void decodeCast(const llvm::CastInst& op);
  void decodeGep(const llvm::GetElementPtrInst& op);
  void decodeLoad(const llvm::LoadInst& op);
  void decodeStore(const llvm::StoreInst& op);
  void decodeAtomic(const llvm::AtomicRMWInst& op);
  void decodeCompareExchange(const llvm::AtomicCmpXchgInst& op);
  void decodeVector(const llvm::Instruction& op);
  void decodeTerminator(const llvm::Instruction& op);
  void repack(const llvm::Instruction& op, const Columns& from, uint32_t from_bits, uint32_t to_bits);
  void emitBinary(Binary kind, const Component& type, Column result, Column a, Column b);

  // calls (decode_calls.cpp)
  void decodeCall(const llvm::CallInst& call);
  void decodeInlineAsm(const llvm::CallInst& call);
  bool decodeLlvmIntrinsic(const llvm::IntrinsicInst& call);

  const llvm::Function& function_;
  const llvm::DataLayout& layout_;
  Program& program_;
  const std::vector<SourceLine>* places_;
  Status status_;
  llvm::DenseMap<const llvm::Value*, Columns> values_;
  std::map<std::pair<uint64_t, bool>, Column> constants_;
  llvm::DenseMap<const llvm::GlobalVariable*, uint64_t> globals_;
  llvm::DenseMap<const llvm::BasicBlock*, uint32_t> body_;
  std::map<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, uint32_t> edges_;  // from, to → op of the edge's moves
  struct Patch {
    uint32_t op;
    const llvm::BasicBlock *from, *to, *otherwise;
  };
  std::vector<Patch> patches_;
  struct SwitchPatch {
    uint32_t list;  // entry that holds the target
    const llvm::BasicBlock *from, *to;
  };
  std::vector<SwitchPatch> switch_patches_;
  std::map<std::tuple<std::string, int, int>, uint32_t> line_ids_;
  const llvm::Instruction* current_ = nullptr;
};

}  // namespace nereid::emulator
