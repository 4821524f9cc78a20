// Types, constants and global variables.
#include "compiler/emulator/decoder.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Operator.h"

namespace nereid::emulator {

bool Decoder::flatten(llvm::Type* type, Components& out) {
  if (type->isVoidTy()) return true;
  if (auto* integer = llvm::dyn_cast<llvm::IntegerType>(type)) {
    const unsigned bits = integer->getBitWidth();
    if (bits > 64) return false;
    out.push_back({bits > 32 ? Scalar::kInt64 : Scalar::kInt32, bits});
    return true;
  }
  if (type->isPointerTy()) return out.push_back({Scalar::kInt64, 64}), true;
  if (type->isHalfTy()) return out.push_back({Scalar::kF16, 16}), true;
  if (type->isBFloatTy()) return out.push_back({Scalar::kBF16, 16}), true;
  if (type->isFloatTy()) return out.push_back({Scalar::kF32, 32}), true;
  if (type->isDoubleTy()) return out.push_back({Scalar::kF64, 64}), true;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    for (unsigned i = 0; i < vector->getNumElements(); i++)
      if (!flatten(vector->getElementType(), out)) return false;
    return true;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (llvm::Type* element : structure->elements())
      if (!flatten(element, out)) return false;
    return true;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    for (uint64_t i = 0; i < array->getNumElements(); i++)
      if (!flatten(array->getElementType(), out)) return false;
    return true;
  }
  return false;
}

Components Decoder::componentsOf(llvm::Type* type) {
  Components out;
  if (!flatten(type, out)) {
    std::string text;
    llvm::raw_string_ostream(text) << *type;
    if (status_.ok())
      status_ =
          Diag{Code::kUnsupported, "the emulator has no values of type " + text, program_.symbol, "extend decode_values.cpp"};
    out.assign(1, Component{});
  }
  return out;
}

bool Decoder::placesOf(llvm::Type* type, uint64_t offset, llvm::SmallVectorImpl<uint32_t>& places) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    const uint64_t bits = layout_.getTypeSizeInBits(vector->getElementType());
    if (bits % 8) return false;
    for (unsigned i = 0; i < vector->getNumElements(); i++)
      if (!placesOf(vector->getElementType(), offset + i * (bits / 8), places)) return false;
    return true;
  }
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* at = layout_.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); i++)
      if (!placesOf(structure->getElementType(i), offset + at->getElementOffset(i), places)) return false;
    return true;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t stride = layout_.getTypeAllocSize(array->getElementType());
    for (uint64_t i = 0; i < array->getNumElements(); i++)
      if (!placesOf(array->getElementType(), offset + i * stride, places)) return false;
    return true;
  }
  places.push_back(static_cast<uint32_t>(offset << 8 | layout_.getTypeStoreSize(type)));
  return true;
}

Column Decoder::makeColumn(bool wide) {
  const Column column = program_.register_bytes;
  program_.register_bytes += kLanes * (wide ? 8 : 4);
  return column;
}

Columns Decoder::makeColumns(llvm::Type* type) {
  Columns made;
  for (const Component& c : componentsOf(type)) made.push_back(makeColumn(c.wide()));
  return made;
}

Column Decoder::constantColumn(uint64_t value, bool wide) {
  auto [at, fresh] = constants_.try_emplace({value, wide}, 0);
  if (fresh) {
    at->second = makeColumn(wide);
    program_.constants.push_back({at->second, value, wide});
  }
  return at->second;
}

const Columns& Decoder::result(const llvm::Instruction& instruction) {
  Columns made = makeColumns(instruction.getType());
  return values_[&instruction] = std::move(made);
}

const Columns& Decoder::columns(const llvm::Value* value) {
  if (auto at = values_.find(value); at != values_.end()) return at->second;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    const Components types = componentsOf(constant->getType());
    llvm::SmallVector<uint64_t> bits;
    if (!constantComponents(constant, bits)) fail(*value, "constant");
    bits.resize(types.size());
    Columns made;
    for (size_t i = 0; i < types.size(); i++) made.push_back(constantColumn(bits[i], types[i].wide()));
    return values_[value] = std::move(made);
  }
  // Not yet decoded: only operands of phis are, and those are read when everything else is.
  fail(*value, "value used before its definition");
  return values_[value] = makeColumns(value->getType());
}

bool Decoder::constantComponents(const llvm::Constant* constant, llvm::SmallVectorImpl<uint64_t>& out) {
  if (auto* integer = llvm::dyn_cast<llvm::ConstantInt>(constant); integer && !constant->getType()->isVectorTy()) {
    if (integer->getBitWidth() > 64) return false;
    out.push_back(integer->getZExtValue());
    return true;
  }
  if (auto* real = llvm::dyn_cast<llvm::ConstantFP>(constant); real && !constant->getType()->isVectorTy()) {
    out.push_back(real->getValueAPF().bitcastToAPInt().getZExtValue());
    return true;
  }
  if (llvm::isa<llvm::ConstantPointerNull>(constant)) return out.push_back(0), true;
  if (llvm::isa<llvm::UndefValue>(constant)) {
    // A pattern that shows where it reaches a result.
    for (const Component& c : componentsOf(constant->getType())) out.push_back(0xA5A5A5A5A5A5A5A5ull & c.mask());
    return true;
  }
  if (llvm::isa<llvm::ConstantAggregateZero>(constant)) {
    out.append(componentsOf(constant->getType()).size(), 0);
    return true;
  }
  if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
    auto at = globals_.find(global);
    if (at == globals_.end()) return false;
    out.push_back(at->second);
    return true;
  }
  if (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(constant)) {
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(gep->getType()), 0);
    if (!gep->accumulateConstantOffset(layout_, offset)) return false;
    llvm::SmallVector<uint64_t> base;
    if (!constantComponents(llvm::cast<llvm::Constant>(gep->getPointerOperand()), base)) return false;
    out.push_back(base[0] + static_cast<uint64_t>(offset.getSExtValue()));
    return true;
  }
  if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
    llvm::SmallVector<uint64_t> a;
    if (!constantComponents(expression->getOperand(0), a) || a.size() != 1) return false;
    const Components types = componentsOf(constant->getType());
    if (types.size() != 1) return false;
    switch (expression->getOpcode()) {
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::PtrToAddr:
      case llvm::Instruction::IntToPtr:
      case llvm::Instruction::Trunc:
      case llvm::Instruction::BitCast: out.push_back(a[0] & types[0].mask()); return true;
      case llvm::Instruction::AddrSpaceCast: {
        const unsigned from = expression->getOperand(0)->getType()->getPointerAddressSpace(),
                       to = constant->getType()->getPointerAddressSpace();
        if (from == 3 && to == 0) a[0] |= kSharedWindow << kWindowBits;
        if (from == 0 && to == 3) a[0] &= (uint64_t{1} << kWindowBits) - 1;
        out.push_back(a[0]);
        return true;
      }
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
      case llvm::Instruction::Xor: {
        llvm::SmallVector<uint64_t> b;
        if (!constantComponents(expression->getOperand(1), b) || b.size() != 1) return false;
        const unsigned op = expression->getOpcode();
        out.push_back((op == llvm::Instruction::Add   ? a[0] + b[0]
                       : op == llvm::Instruction::Sub ? a[0] - b[0]
                                                      : a[0] ^ b[0]) &
                      types[0].mask());
        return true;
      }
      default: return false;
    }
  }
  // Vectors, structs and arrays by element.
  const uint64_t count = llvm::isa<llvm::FixedVectorType>(constant->getType())
                             ? llvm::cast<llvm::FixedVectorType>(constant->getType())->getNumElements()
                         : constant->getType()->isStructTy() ? constant->getType()->getStructNumElements()
                         : constant->getType()->isArrayTy()  ? constant->getType()->getArrayNumElements()
                                                             : 0;
  if (count == 0) return false;
  for (uint64_t i = 0; i < count; i++) {
    const llvm::Constant* element = constant->getAggregateElement(static_cast<unsigned>(i));
    if (!element || !constantComponents(element, out)) return false;
  }
  return true;
}

bool Decoder::writeConstant(const llvm::Constant* constant, uint8_t* to) {
  llvm::SmallVector<uint32_t> places;
  llvm::SmallVector<uint64_t> bits;
  if (!placesOf(constant->getType(), 0, places) || !constantComponents(constant, bits) || bits.size() != places.size())
    return false;
  for (size_t i = 0; i < places.size(); i++) std::memcpy(to + (places[i] >> 8), &bits[i], places[i] & 255);
  return true;
}

// Shared variables of a fixed size come first; the external ones share what follows, the launch's dynamic part. Others are data.
void Decoder::layOutGlobals() {
  uint64_t shared = kSharedBase;
  const llvm::Module& module = *function_.getParent();
  auto align = [&](const llvm::GlobalVariable& g) {
    return std::max<uint64_t>(g.getAlign().valueOrOne().value(), layout_.getPrefTypeAlign(g.getValueType()).value());
  };
  auto roundUp = [](uint64_t x, uint64_t to) { return (x + to - 1) / to * to; };
  std::vector<std::pair<const llvm::GlobalVariable*, uint64_t>> data;
  uint64_t dynamic_align = 16;
  for (const llvm::GlobalVariable& g : module.globals()) {
    const uint64_t bytes = layout_.getTypeAllocSize(g.getValueType());
    if (g.getAddressSpace() == 3) {
      if (g.isDeclaration()) {
        dynamic_align = std::max(dynamic_align, align(g));
        continue;
      }
      shared = roundUp(shared, align(g));
      globals_[&g] = shared;
      shared += bytes;
    } else if (!g.isDeclaration()) {
      const uint64_t at = roundUp(program_.data.size(), align(g));
      program_.data.resize(at + bytes);
      globals_[&g] = (kDataWindow << kWindowBits) + at;
      data.push_back({&g, at});
    }
  }
  if (shared != kSharedBase || dynamic_align > kSharedBase) shared = roundUp(shared, dynamic_align);
  for (const llvm::GlobalVariable& g : module.globals()) {
    if (g.getAddressSpace() == 3 && g.isDeclaration()) globals_[&g] = shared;
  }
  program_.static_shared_bytes = static_cast<uint32_t>(shared - kSharedBase);
  for (auto& [g, at] : data) {
    if (!writeConstant(g->getInitializer(), program_.data.data() + at)) fail(*g, "initialiser");
  }
}

}  // namespace nereid::emulator
