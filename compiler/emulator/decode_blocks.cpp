// The walk over blocks, their order, and the edges between them.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emulator/decoder.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"

namespace nereid::emulator {

Decoder::Decoder(const llvm::Function& function, Program& program, const std::vector<SourceLine>* places)
    : function_(function), layout_(function.getParent()->getDataLayout()), program_(program), places_(places) {}

void Decoder::fail(const llvm::Value& what, std::string why) {
  if (!status_.ok()) return;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(&what))
    stream << *instruction;
  else
    what.printAsOperand(stream);
  std::string where = program_.symbol;
  if (current_) where = program_.lines[lineOf(*current_)].text();
  status_ = Diag{Code::kUnsupported, fmt::format("the emulator cannot execute {}: {}", why, llvm::StringRef(text).trim().str()),
                 where, "add it to compiler/emulator (docs/emulator.md)"};
}

uint32_t Decoder::lineOf(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& loc = instruction.getDebugLoc();
  if (!loc || loc.getLine() == 0) return 0;
  SourceLine place{loc->getFilename().str(), static_cast<int>(loc.getLine()), static_cast<int>(loc.getCol())};
  if (places_) {
    if (loc.getLine() >= places_->size()) return 0;
    place = (*places_)[loc.getLine()];
  }
  auto [at, fresh] = line_ids_.try_emplace({place.file, place.line, place.column}, static_cast<uint32_t>(program_.lines.size()));
  if (fresh) program_.lines.push_back(std::move(place));
  return at->second;
}

Op& Decoder::emit(Handler run, std::string name) {
  if (!run && current_) fail(*current_, "this operation on this type");
  Op& op = program_.ops.emplace_back();
  op.run = run;
  op.index = static_cast<uint32_t>(program_.ops.size() - 1);
  program_.info.push_back({std::move(name), current_ ? lineOf(*current_) : 0});
  return op;
}

Op& Decoder::emitWithList(Handler run, std::string name, llvm::ArrayRef<Column> results, llvm::ArrayRef<Column> operands) {
  Op& op = emit(run, std::move(name));
  op.list = static_cast<uint32_t>(program_.lists.size());
  op.results = static_cast<uint16_t>(results.size());
  op.operands = static_cast<uint16_t>(operands.size());
  program_.lists.insert(program_.lists.end(), results.begin(), results.end());
  program_.lists.insert(program_.lists.end(), operands.begin(), operands.end());
  if (!results.empty()) op.result = results[0];
  return op;
}

// Reverse post-order in which a loop's blocks stay together: what leaves a loop comes after all of it. The warp runs its lowest
// place first, so lanes that leave a loop early wait for the others behind it.
llvm::SmallVector<const llvm::BasicBlock*> Decoder::orderBlocks() {
  llvm::DominatorTree dominators(const_cast<llvm::Function&>(function_));
  llvm::LoopInfo loops(dominators);
  llvm::SmallVector<const llvm::BasicBlock*> post_order;
  llvm::DenseMap<const llvm::BasicBlock*, bool> seen;
  struct Frame {
    const llvm::BasicBlock* block;
    llvm::SmallVector<const llvm::BasicBlock*, 2> successors;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  auto enter = [&](const llvm::BasicBlock* block) {
    seen[block] = true;
    Frame frame{block, {}, 0};
    // Visited first means placed last: outer successors first, and of equal ones the last first.
    llvm::SmallVector<std::tuple<unsigned, int, const llvm::BasicBlock*>, 2> by_depth;
    for (const llvm::BasicBlock* s : llvm::successors(block))
      by_depth.push_back({loops.getLoopDepth(s), -static_cast<int>(by_depth.size()), s});
    llvm::sort(by_depth, [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    for (const auto& entry : by_depth) frame.successors.push_back(std::get<2>(entry));
    stack.push_back(std::move(frame));
  };
  enter(&function_.getEntryBlock());
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next < frame.successors.size()) {
      const llvm::BasicBlock* successor = frame.successors[frame.next++];
      if (!seen[successor]) enter(successor);
      continue;
    }
    post_order.push_back(frame.block);
    stack.pop_back();
  }
  std::reverse(post_order.begin(), post_order.end());
  return post_order;
}

Status Decoder::run() {
  program_.lines.push_back({});
  layOutGlobals();
  for (const llvm::Argument& argument : function_.args()) {
    Parameter parameter;
    llvm::Type* type = argument.getType();
    if (type->isPointerTy())
      parameter.type = ArgType::kPointer;
    else if (type->isIntegerTy(64))
      parameter.type = ArgType::kI64;
    else if (type->isIntegerTy(32))
      parameter.type = ArgType::kI32;
    else if (type->isFloatTy())
      parameter.type = ArgType::kF32;
    else
      return Diag{Code::kUnsupported, fmt::format("parameter {} is no pointer, i32, i64 or f32", argument.getArgNo()),
                  program_.symbol, "change the argument"};
    define(&argument, makeColumns(type));
    parameter.columns.assign(columns(&argument).begin(), columns(&argument).end());
    program_.parameters.push_back(std::move(parameter));
  }
  const llvm::SmallVector<const llvm::BasicBlock*> order = orderBlocks();
  for (const llvm::BasicBlock* block : order)
    for (const llvm::PHINode& phi : block->phis()) define(&phi, makeColumns(phi.getType()));

  for (const llvm::BasicBlock* block : order) {
    current_ = nullptr;
    if (!block->phis().empty()) {
      for (const llvm::BasicBlock* from : llvm::predecessors(block)) {
        if (edges_.count({from, block})) continue;
        edges_[{from, block}] = emit(movesHandler()).index;
        emit(jumpHandler());
      }
    }
    body_[block] = static_cast<uint32_t>(program_.ops.size());
    for (const llvm::Instruction& instruction : *block) {
      current_ = &instruction;
      decode(instruction);
      if (!status_.ok()) return status_;
    }
  }
  current_ = nullptr;
  patchEdges();
  return status_;
}

uint64_t Decoder::edgeTarget(const llvm::BasicBlock* from, const llvm::BasicBlock* to) {
  auto edge = edges_.find({from, to});
  return edge != edges_.end() ? edge->second : body_[to];
}

void Decoder::patchEdges() {
  for (const Patch& patch : patches_) {
    program_.ops[patch.op].imm = edgeTarget(patch.from, patch.to);
    if (patch.otherwise) program_.ops[patch.op].aux = edgeTarget(patch.from, patch.otherwise);
  }
  for (const SwitchPatch& patch : switch_patches_)
    program_.lists[patch.list] = static_cast<Column>(edgeTarget(patch.from, patch.to));
  for (const auto& [edge, at] : edges_) {
    const auto& [from, to] = edge;
    Columns targets, sources;
    for (const llvm::PHINode& phi : to->phis()) {
      const Components types = componentsOf(phi.getType());
      const Columns source = columns(phi.getIncomingValueForBlock(from)), target = columns(&phi);
      for (size_t i = 0; i < types.size(); i++) {
        if (source[i] == target[i]) continue;
        targets.push_back(target[i]);
        sources.push_back(source[i] | (types[i].wide() ? 1u : 0u));
      }
    }
    Op& moves = program_.ops[at];
    moves.list = static_cast<uint32_t>(program_.lists.size());
    moves.results = moves.operands = static_cast<uint16_t>(targets.size());
    program_.lists.insert(program_.lists.end(), targets.begin(), targets.end());
    program_.lists.insert(program_.lists.end(), sources.begin(), sources.end());
    program_.ops[at + 1].imm = body_[to];
  }
}

}  // namespace nereid::emulator
