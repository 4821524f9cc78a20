// Instructions other than calls.
#include <fmt/format.h>

#include "compiler/emulator/block_memory.h"
#include "compiler/emulator/decoder.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"

namespace nereid::emulator {
namespace {

using llvm::Instruction;

std::optional<Binary> binaryOf(unsigned opcode) {
  switch (opcode) {
    case Instruction::Add: return Binary::kAdd;
    case Instruction::Sub: return Binary::kSub;
    case Instruction::Mul: return Binary::kMul;
    case Instruction::UDiv: return Binary::kUDiv;
    case Instruction::SDiv: return Binary::kSDiv;
    case Instruction::URem: return Binary::kURem;
    case Instruction::SRem: return Binary::kSRem;
    case Instruction::Shl: return Binary::kShl;
    case Instruction::LShr: return Binary::kLShr;
    case Instruction::AShr: return Binary::kAShr;
    case Instruction::And: return Binary::kAnd;
    case Instruction::Or: return Binary::kOr;
    case Instruction::Xor: return Binary::kXor;
    case Instruction::FAdd: return Binary::kFAdd;
    case Instruction::FSub: return Binary::kFSub;
    case Instruction::FMul: return Binary::kFMul;
    case Instruction::FDiv: return Binary::kFDiv;
    case Instruction::FRem: return Binary::kFRem;
    default: return std::nullopt;
  }
}

Compare compareOf(llvm::CmpInst::Predicate predicate) {
  switch (predicate) {
    case llvm::CmpInst::ICMP_EQ: return Compare::kEq;
    case llvm::CmpInst::ICMP_NE: return Compare::kNe;
    case llvm::CmpInst::ICMP_UGT: return Compare::kUgt;
    case llvm::CmpInst::ICMP_UGE: return Compare::kUge;
    case llvm::CmpInst::ICMP_ULT: return Compare::kUlt;
    case llvm::CmpInst::ICMP_ULE: return Compare::kUle;
    case llvm::CmpInst::ICMP_SGT: return Compare::kSgt;
    case llvm::CmpInst::ICMP_SGE: return Compare::kSge;
    case llvm::CmpInst::ICMP_SLT: return Compare::kSlt;
    default: return Compare::kSle;
  }
}

std::optional<AtomicKind> atomicOf(llvm::AtomicRMWInst::BinOp op) {
  switch (op) {
    case llvm::AtomicRMWInst::Add: return AtomicKind::kAdd;
    case llvm::AtomicRMWInst::Sub: return AtomicKind::kSub;
    case llvm::AtomicRMWInst::And: return AtomicKind::kAnd;
    case llvm::AtomicRMWInst::Or: return AtomicKind::kOr;
    case llvm::AtomicRMWInst::Xor: return AtomicKind::kXor;
    case llvm::AtomicRMWInst::Xchg: return AtomicKind::kExchange;
    case llvm::AtomicRMWInst::Min: return AtomicKind::kSMin;
    case llvm::AtomicRMWInst::Max: return AtomicKind::kSMax;
    case llvm::AtomicRMWInst::UMin: return AtomicKind::kUMin;
    case llvm::AtomicRMWInst::UMax: return AtomicKind::kUMax;
    case llvm::AtomicRMWInst::UIncWrap: return AtomicKind::kIncWrap;
    case llvm::AtomicRMWInst::UDecWrap: return AtomicKind::kDecWrap;
    case llvm::AtomicRMWInst::FAdd: return AtomicKind::kFAdd;
    default: return std::nullopt;
  }
}

const char* spaceName(unsigned space) {
  switch (space) {
    case 1: return ".global";
    case 3: return ".shared";
    case 4: return ".const";
    case 5: return ".local";
    case 7: return ".shared::cluster";
    default: return "";
  }
}

std::string accessName(const char* what, unsigned space, uint64_t bytes) {
  return fmt::format("{}{}.b{}", what, spaceName(space), bytes * 8);
}

uint64_t placeOf(unsigned space, uint64_t align) { return static_cast<uint64_t>(space) << 32 | align; }

bool isAcquire(llvm::AtomicOrdering o) { return llvm::isAcquireOrStronger(o); }
bool isRelease(llvm::AtomicOrdering o) { return llvm::isReleaseOrStronger(o); }

}  // namespace

void Decoder::emitBinary(Binary kind, const Component& type, Column result, Column a, Column b) {
  Op& op = emit(binaryHandler(kind, type.scalar));
  op.result = result;
  op.a = a;
  op.b = b;
  op.bits = type.bits;
  op.imm = type.mask();
}

void Decoder::decode(const Instruction& instruction) {
  if (llvm::isa<llvm::PHINode>(instruction)) return;
  if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) return decodeBinary(*op);
  if (auto* op = llvm::dyn_cast<llvm::CastInst>(&instruction)) return decodeCast(*op);
  if (auto* op = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return decodeGep(*op);
  if (auto* op = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return decodeLoad(*op);
  if (auto* op = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return decodeStore(*op);
  if (auto* op = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return decodeAtomic(*op);
  if (auto* op = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) return decodeCompareExchange(*op);
  if (auto* op = llvm::dyn_cast<llvm::CallInst>(&instruction)) return decodeCall(*op);
  if (instruction.isTerminator()) return decodeTerminator(instruction);
  switch (instruction.getOpcode()) {
    case Instruction::FNeg: {
      const Components types = componentsOf(instruction.getType());
      const Columns a = columns(instruction.getOperand(0)), r = result(instruction);
      for (size_t i = 0; i < r.size(); i++) {
        Op& op = emit(unaryHandler(Unary::kFNeg, types[i].scalar));
        op.result = r[i];
        op.a = a[i];
      }
      return;
    }
    case Instruction::ICmp:
    case Instruction::FCmp: {
      const auto& compare = llvm::cast<llvm::CmpInst>(instruction);
      const Components types = componentsOf(compare.getOperand(0)->getType());
      const Columns a = columns(compare.getOperand(0)), b = columns(compare.getOperand(1)), r = result(instruction);
      for (size_t i = 0; i < r.size(); i++) {
        const bool real = compare.isFPPredicate();
        Op& op = emit(real ? floatCompareHandler(types[i].scalar)
                           : compareHandler(compareOf(compare.getPredicate()), types[i].scalar));
        op.result = r[i];
        op.a = a[i];
        op.b = b[i];
        op.bits = types[i].bits;
        op.imm = real ? static_cast<uint64_t>(compare.getPredicate()) : 0;
      }
      return;
    }
    case Instruction::Select: {
      const Components types = componentsOf(instruction.getType());
      const Columns condition = columns(instruction.getOperand(0)), a = columns(instruction.getOperand(1)),
                    b = columns(instruction.getOperand(2));
      const Columns r = result(instruction);
      for (size_t i = 0; i < r.size(); i++) {
        Op& op = emit(selectHandler(types[i].wide()));
        op.result = r[i];
        op.a = condition[condition.size() > 1 ? i : 0];
        op.b = a[i];
        op.c = b[i];
      }
      return;
    }
    case Instruction::Freeze: return define(&instruction, Columns(columns(instruction.getOperand(0))));
    case Instruction::Fence: emit(fenceHandler(), "fence"); return;
    case Instruction::Alloca: {
      const auto& alloca = llvm::cast<llvm::AllocaInst>(instruction);
      auto bytes = alloca.getAllocationSize(layout_);
      if (!bytes || alloca.getParent() != &function_.getEntryBlock())
        return fail(instruction, "an alloca of a size that is not constant");
      const uint64_t align = alloca.getAlign().value(), at = (program_.local_bytes + align - 1) / align * align;
      program_.local_bytes = static_cast<uint32_t>(at + bytes->getFixedValue());
      return define(&instruction, {constantColumn((kLocalWindow << kWindowBits) + at, true)});
    }
    default: return decodeVector(instruction);
  }
}

void Decoder::decodeBinary(const llvm::BinaryOperator& instruction) {
  const Components types = componentsOf(instruction.getType());
  const Columns a = columns(instruction.getOperand(0)), b = columns(instruction.getOperand(1)), r = result(instruction);
  const std::optional<Binary> kind = binaryOf(instruction.getOpcode());
  if (!kind) return fail(instruction, "instruction");
  for (size_t i = 0; i < r.size(); i++) emitBinary(*kind, types[i], r[i], a[i], b[i]);
}

// Bits of `from` components cut into components of the result.
void Decoder::repack(const Instruction& instruction, const Columns& from, uint32_t from_bits, uint32_t to_bits) {
  const Columns r = result(instruction);
  const uint32_t larger = std::max(from_bits, to_bits), smaller = std::min(from_bits, to_bits);
  if (larger % smaller != 0 || from.size() * from_bits != r.size() * to_bits) return fail(instruction, "bitcast");
  emitWithList(repackHandler(), "", r, from).aux = from_bits | static_cast<uint64_t>(to_bits) << 32;
}

void Decoder::decodeCast(const llvm::CastInst& instruction) {
  const llvm::Value* operand = instruction.getOperand(0);
  const Components from = componentsOf(operand->getType()), to = componentsOf(instruction.getType());
  const Columns a = columns(operand);
  switch (instruction.getOpcode()) {
    case Instruction::BitCast: {
      if (from.size() == to.size() && from[0].wide() == to[0].wide()) return define(&instruction, a);
      return repack(instruction, a, from[0].bits, to[0].bits);
    }
    case Instruction::AddrSpaceCast: {
      const unsigned source = operand->getType()->getScalarType()->getPointerAddressSpace(),
                     target = instruction.getType()->getScalarType()->getPointerAddressSpace();
      const bool was_shared = source == 3 || source == 7, is_shared = target == 3 || target == 7;
      if (was_shared == is_shared) return define(&instruction, a);
      const Columns r = result(instruction);
      for (size_t i = 0; i < r.size(); i++) {
        Op& op = emit(was_shared ? orConstantHandler() : andConstantHandler());
        op.result = r[i];
        op.a = a[i];
        op.aux = was_shared ? kSharedWindow << kWindowBits : (uint64_t{1} << kWindowBits) - 1;
      }
      return;
    }
    default: break;
  }
  Convert kind;
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::IntToPtr: kind = Convert::kZExt; break;
    case Instruction::SExt: kind = Convert::kSExt; break;
    case Instruction::Trunc:
    case Instruction::PtrToAddr:
    case Instruction::PtrToInt: kind = Convert::kTrunc; break;
    case Instruction::FPToSI: kind = Convert::kToSigned; break;
    case Instruction::FPToUI: kind = Convert::kToUnsigned; break;
    case Instruction::SIToFP: kind = Convert::kFromSigned; break;
    case Instruction::UIToFP: kind = Convert::kFromUnsigned; break;
    case Instruction::FPTrunc:
    case Instruction::FPExt: kind = Convert::kFloat; break;
    default: return fail(instruction, "cast");
  }
  // Columns are zero-extended already.
  const bool renames =
      (kind == Convert::kZExt && from[0].wide() == to[0].wide()) || (kind == Convert::kTrunc && from[0].bits == to[0].bits);
  if (renames) return define(&instruction, a);
  const Columns r = result(instruction);
  const bool to_integer = kind == Convert::kToSigned || kind == Convert::kToUnsigned;
  for (size_t i = 0; i < r.size(); i++) {
    Op& op = emit(convertHandler(kind, from[i].scalar, to[i].scalar));
    op.result = r[i];
    op.a = a[i];
    op.bits = to_integer ? to[i].bits : from[i].bits;
    op.imm = to[i].mask();
  }
}

void Decoder::decodeGep(const llvm::GetElementPtrInst& gep) {
  if (gep.getType()->isVectorTy()) return fail(gep, "getelementptr of a vector");
  Column at = column(gep.getPointerOperand());
  uint64_t constant = 0;
  llvm::SmallVector<std::pair<const llvm::Value*, uint64_t>> variable;
  for (auto type = llvm::gep_type_begin(gep), end = llvm::gep_type_end(gep); type != end; ++type) {
    const llvm::Value* index = type.getOperand();
    if (llvm::StructType* structure = type.getStructTypeOrNull()) {
      constant += layout_.getStructLayout(structure)->getElementOffset(
          static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(index)->getZExtValue()));
      continue;
    }
    const uint64_t stride = type.getSequentialElementStride(layout_);
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(index))
      constant += static_cast<uint64_t>(known->getSExtValue()) * stride;
    else
      variable.push_back({index, stride});
  }
  if (variable.empty()) {
    if (constant == 0) return define(&gep, {at});
    Op& op = emit(addConstantHandler());
    op.a = at;
    op.aux = constant;
    op.result = result(gep)[0];
    return;
  }
  for (auto& [index, stride] : variable) {
    const Component type = componentsOf(index->getType())[0];
    const Column by = column(index);
    const Column to = index == variable.back().first && stride == variable.back().second ? result(gep)[0] : makeColumn(true);
    Op& op = emit(addScaledHandler(type.wide()));
    op.result = to;
    op.a = at;
    op.b = by;
    op.bits = type.bits;
    op.imm = stride;
    op.aux = constant;
    constant = 0;
    at = to;
  }
  define(&gep, {at});
}

void Decoder::decodeLoad(const llvm::LoadInst& load) {
  const Components types = componentsOf(load.getType());
  const uint64_t bytes = layout_.getTypeStoreSize(load.getType());
  const unsigned space = load.getPointerAddressSpace();
  const Column address = column(load.getPointerOperand());
  llvm::SmallVector<uint32_t> places;
  const bool whole = placesOf(load.getType(), 0, places);
  Columns loaded;
  if (whole) {
    for (const Component& c : types) loaded.push_back(makeColumn(c.wide()));
  } else {
    // Elements of less than a byte: bytes first, then their bits.
    places.clear();
    for (uint32_t i = 0; i < bytes; i++) {
      places.push_back(i << 8 | 1);
      loaded.push_back(makeColumn(false));
    }
  }
  Columns list = loaded;
  Op& op = emitWithList(loadHandler(), accessName("ld", space, bytes), list, places);
  op.a = address;
  op.imm = bytes;
  op.aux = placeOf(space, load.getAlign().value());
  if (whole) {
    // An i1 is a byte in memory.
    for (size_t i = 0; i < types.size(); i++) {
      if (types[i].bits >= 32 || types[i].bits == 16 || types[i].bits == 8) continue;
      const Column narrow = makeColumn(false);
      emitBinary(Binary::kAnd, types[i], narrow, loaded[i], constantColumn(types[i].mask(), false));
      loaded[i] = narrow;
    }
    return define(&load, loaded);
  }
  if (types.size() * types[0].bits != bytes * 8) return fail(load, "load of a vector that does not fill its bytes");
  repack(load, loaded, 8, types[0].bits);
}

void Decoder::decodeStore(const llvm::StoreInst& store) {
  const llvm::Value* value = store.getValueOperand();
  const uint64_t bytes = layout_.getTypeStoreSize(value->getType());
  const unsigned space = store.getPointerAddressSpace();
  llvm::SmallVector<uint32_t> places;
  if (!placesOf(value->getType(), 0, places)) return fail(store, "store of elements of less than a byte");
  const Columns values = columns(value);
  const Column address = column(store.getPointerOperand());
  Columns list(values.begin(), values.end());
  list.append(places.begin(), places.end());
  Op& op = emitWithList(storeHandler(), accessName("st", space, bytes), {}, list);
  op.a = address;
  op.imm = bytes;
  op.aux = placeOf(space, store.getAlign().value());
}

void Decoder::decodeAtomic(const llvm::AtomicRMWInst& atomic) {
  const std::optional<AtomicKind> kind = atomicOf(atomic.getOperation());
  const Components types = componentsOf(atomic.getType());
  const bool f16 = atomic.getOperation() == llvm::AtomicRMWInst::FAdd && types[0].bits < 32;
  if (!kind || types.size() != 1 || f16 || types[0].bits < 32) return fail(atomic, "atomicrmw");
  const uint64_t bytes = types[0].bits / 8;
  const Column address = column(atomic.getPointerOperand()), value = column(atomic.getValOperand());
  const Columns r = result(atomic);
  Op& op = emitWithList(atomicHandler(), accessName("atom", atomic.getPointerAddressSpace(), bytes), r, {});
  op.a = address;
  op.b = value;
  op.imm = static_cast<uint64_t>(*kind) | (isAcquire(atomic.getOrdering()) ? kAtomicAcquire : 0) |
           (isRelease(atomic.getOrdering()) ? kAtomicRelease : 0) | bytes << 16;
  op.aux = placeOf(atomic.getPointerAddressSpace(), atomic.getAlign().value());
}

void Decoder::decodeCompareExchange(const llvm::AtomicCmpXchgInst& exchange) {
  const Components types = componentsOf(exchange.getType());
  if (types.size() != 2 || types[0].bits < 32) return fail(exchange, "cmpxchg");
  const uint64_t bytes = types[0].bits / 8;
  const Column address = column(exchange.getPointerOperand()), expected = column(exchange.getCompareOperand()),
               value = column(exchange.getNewValOperand());
  const Columns r = result(exchange);
  Op& op = emitWithList(atomicHandler(), accessName("atom.cas", exchange.getPointerAddressSpace(), bytes), r, {});
  op.a = address;
  op.b = expected;
  op.c = value;
  const llvm::AtomicOrdering order = exchange.getSuccessOrdering();
  op.imm = static_cast<uint64_t>(AtomicKind::kCompareExchange) | (isAcquire(order) ? kAtomicAcquire : 0) |
           (isRelease(order) ? kAtomicRelease : 0) | bytes << 16;
  op.aux = placeOf(exchange.getPointerAddressSpace(), exchange.getAlign().value());
}

// Where the components of element `indices` of an aggregate begin.
static size_t componentOffset(Components (*count)(void*, llvm::Type*), void* self, llvm::Type* type,
                              llvm::ArrayRef<unsigned> indices) {
  size_t offset = 0;
  for (unsigned index : indices) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      for (unsigned i = 0; i < index; i++) offset += count(self, structure->getElementType(i)).size();
      type = structure->getElementType(index);
    } else {
      type = type->isVectorTy() ? llvm::cast<llvm::VectorType>(type)->getElementType() : type->getArrayElementType();
      offset += index * count(self, type).size();
    }
  }
  return offset;
}

void Decoder::decodeVector(const Instruction& instruction) {
  auto offsetOf = [&](llvm::Type* type, llvm::ArrayRef<unsigned> indices) {
    return componentOffset([](void* self, llvm::Type* t) { return static_cast<Decoder*>(self)->componentsOf(t); }, this, type,
                           indices);
  };
  if (auto* op = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    const Columns from = columns(op->getAggregateOperand());
    const size_t at = offsetOf(op->getAggregateOperand()->getType(), op->getIndices()),
                 count = componentsOf(op->getType()).size();
    return define(op, Columns(from.begin() + at, from.begin() + at + count));
  }
  if (auto* op = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    Columns all = columns(op->getAggregateOperand());
    const Columns value = columns(op->getInsertedValueOperand());
    std::copy(value.begin(), value.end(), all.begin() + offsetOf(op->getType(), op->getIndices()));
    return define(op, all);
  }
  if (auto* op = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    const Columns a = columns(op->getOperand(0)), b = columns(op->getOperand(1));
    Columns picked;
    for (int lane : op->getShuffleMask()) {
      const size_t at = lane < 0 ? 0 : static_cast<size_t>(lane);
      picked.push_back(at < a.size() ? a[at] : b[at - a.size()]);
    }
    return define(op, picked);
  }
  if (auto* op = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    const Columns from = columns(op->getVectorOperand());
    if (auto* index = llvm::dyn_cast<llvm::ConstantInt>(op->getIndexOperand()))
      return define(op, {from[index->getZExtValue() % from.size()]});
    const Component type = componentsOf(op->getType())[0];
    const Column at = column(op->getIndexOperand());
    const Columns r = result(*op);
    Op& made = emitWithList(extractHandler(type.wide()), "", r, from);
    made.a = at;
    made.bits = componentsOf(op->getIndexOperand()->getType())[0].bits;
    return;
  }
  if (auto* op = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    Columns all = columns(op->getOperand(0));
    const Column value = column(op->getOperand(1));
    if (auto* index = llvm::dyn_cast<llvm::ConstantInt>(op->getOperand(2))) {
      all[index->getZExtValue() % all.size()] = value;
      return define(op, all);
    }
    const Component type = componentsOf(op->getOperand(1)->getType())[0];
    const Column at = column(op->getOperand(2));
    const Columns r = result(*op);
    Op& made = emitWithList(insertHandler(type.wide()), "", r, all);
    made.a = at;
    made.b = value;
    made.bits = componentsOf(op->getOperand(2)->getType())[0].bits;
    return;
  }
  fail(instruction, "instruction");
}

void Decoder::decodeTerminator(const Instruction& instruction) {
  const llvm::BasicBlock* block = instruction.getParent();
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
    if (branch->isUnconditional()) {
      patches_.push_back({emit(jumpHandler()).index, block, branch->getSuccessor(0), nullptr});
      return;
    }
    const Column condition = column(branch->getCondition());
    Op& op = emit(branchHandler());
    op.a = condition;
    patches_.push_back({op.index, block, branch->getSuccessor(0), branch->getSuccessor(1)});
    return;
  }
  if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
    const bool wide = componentsOf(choice->getCondition()->getType())[0].wide();
    const Column value = column(choice->getCondition());
    Columns list;
    std::vector<const llvm::BasicBlock*> targets;
    for (const auto& c : choice->cases()) {
      list.push_back(0);
      list.push_back(column(c.getCaseValue()));
      targets.push_back(c.getCaseSuccessor());
    }
    Op& op = emitWithList(switchHandler(wide), "", {}, list);
    op.a = value;
    for (size_t i = 0; i < targets.size(); i++)
      switch_patches_.push_back({op.list + 2 * static_cast<uint32_t>(i), block, targets[i]});
    patches_.push_back({op.index, block, choice->getDefaultDest(), nullptr});
    return;
  }
  if (llvm::isa<llvm::ReturnInst>(instruction)) {
    emit(exitHandler(), "exit");
    return;
  }
  if (llvm::isa<llvm::UnreachableInst>(instruction)) {
    emit(unreachableHandler(), "unreachable");
    return;
  }
  fail(instruction, "terminator");
}

}  // namespace nereid::emulator
