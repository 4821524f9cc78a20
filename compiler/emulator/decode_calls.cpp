// Calls: LLVM's general intrinsics, NVVM's, and inline PTX.
#include <fmt/format.h>

#include "compiler/codegen/inline_ptx.h"
#include "compiler/emulator/decoder.h"
#include "compiler/emulator/intrinsics.h"
#include "llvm/IR/InlineAsm.h"

namespace nereid::emulator {
namespace {

std::optional<Binary> binaryIntrinsic(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::smin: return Binary::kSMin;
    case llvm::Intrinsic::smax: return Binary::kSMax;
    case llvm::Intrinsic::umin: return Binary::kUMin;
    case llvm::Intrinsic::umax: return Binary::kUMax;
    case llvm::Intrinsic::uadd_sat: return Binary::kUAddSat;
    case llvm::Intrinsic::usub_sat: return Binary::kUSubSat;
    case llvm::Intrinsic::sadd_sat: return Binary::kSAddSat;
    case llvm::Intrinsic::ssub_sat: return Binary::kSSubSat;
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::minimumnum: return Binary::kFMinNum;
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::maximumnum: return Binary::kFMaxNum;
    case llvm::Intrinsic::minimum: return Binary::kFMinimum;
    case llvm::Intrinsic::maximum: return Binary::kFMaximum;
    case llvm::Intrinsic::copysign: return Binary::kFCopySign;
    default: return std::nullopt;
  }
}

std::optional<Unary> unaryIntrinsic(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::abs: return Unary::kAbs;
    case llvm::Intrinsic::ctpop: return Unary::kPopCount;
    case llvm::Intrinsic::ctlz: return Unary::kLeadingZeros;
    case llvm::Intrinsic::cttz: return Unary::kTrailingZeros;
    case llvm::Intrinsic::bswap: return Unary::kByteSwap;
    case llvm::Intrinsic::bitreverse: return Unary::kBitReverse;
    case llvm::Intrinsic::fabs: return Unary::kFAbs;
    case llvm::Intrinsic::sqrt: return Unary::kFSqrt;
    case llvm::Intrinsic::floor: return Unary::kFFloor;
    case llvm::Intrinsic::ceil: return Unary::kFCeil;
    case llvm::Intrinsic::trunc: return Unary::kFTrunc;
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::roundeven: return Unary::kFRint;
    case llvm::Intrinsic::round: return Unary::kFRound;
    default: return std::nullopt;
  }
}

std::optional<Ternary> ternaryIntrinsic(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd: return Ternary::kFma;
    case llvm::Intrinsic::fshl: return Ternary::kFunnelLeft;
    case llvm::Intrinsic::fshr: return Ternary::kFunnelRight;
    default: return std::nullopt;
  }
}

// The plain operation and its overflow test.
std::optional<std::pair<Binary, Binary>> overflowIntrinsic(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::uadd_with_overflow: return {{Binary::kAdd, Binary::kUAddOverflow}};
    case llvm::Intrinsic::umul_with_overflow: return {{Binary::kMul, Binary::kUMulOverflow}};
    case llvm::Intrinsic::sadd_with_overflow: return {{Binary::kAdd, Binary::kSAddOverflow}};
    case llvm::Intrinsic::smul_with_overflow: return {{Binary::kMul, Binary::kSMulOverflow}};
    default: return std::nullopt;
  }
}

bool hasNoEffect(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::sideeffect:
    case llvm::Intrinsic::experimental_noalias_scope_decl: return true;
    default: return false;
  }
}

}  // namespace

void Decoder::decodeCall(const llvm::CallInst& call) {
  if (call.isInlineAsm()) return decodeInlineAsm(call);
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return fail(call, "a call through a pointer");
  if (!callee->isIntrinsic()) return fail(call, "a call of a function");
  llvm::StringRef name = callee->getName();
  if (!name.consume_front("llvm.nvvm.")) {
    if (!decodeLlvmIntrinsic(llvm::cast<llvm::IntrinsicInst>(call))) fail(call, "the intrinsic " + name.str());
    return;
  }
  uint64_t aux = 0;
  const Intrinsic* row = findIntrinsic({name.data(), name.size()}, aux);
  if (!row) return fail(call, "the intrinsic llvm.nvvm." + name.str());
  Columns operands;
  for (const llvm::Use& argument : call.args()) operands.append(columns(argument.get()).begin(), columns(argument.get()).end());
  const Components types = componentsOf(call.getType());
  const Columns results = types.empty() ? Columns() : result(call);
  Op& op = emitWithList(row->run, name.str(), results, operands);
  op.aux = aux;
  if (!types.empty()) op.bits = types[0].bits;
  program_.has_bulk_copies |= row->async_proxy;
}

void Decoder::decodeInlineAsm(const llvm::CallInst& call) {
  const auto* text = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  llvm::StringRef body = text->getAsmString(), constraints = text->getConstraintString();
  // An immediate may stand where the table has a register.
  const compiler::InlinePtxForm* form =
      compiler::matchInlinePtx({body.data(), body.size()}, {constraints.data(), constraints.size()});
  if (!form) form = compiler::matchInlinePtx({body.data(), body.size()}, {});
  const Intrinsic* row = form ? findInlineForm(form->name) : nullptr;
  if (!row) return fail(call, "this inline PTX");
  Columns operands;
  const llvm::InlineAsm::ConstraintInfoVector infos = text->ParseConstraints();
  unsigned next = 0;
  for (const llvm::InlineAsm::ConstraintInfo& info : infos) {
    if (info.Type != llvm::InlineAsm::isInput) continue;
    const llvm::Value* argument = call.getArgOperand(next++);
    Column at = column(argument);
    // A shared pointer in a 32-bit register.
    const Component type = componentsOf(argument->getType())[0];
    if (!info.Codes.empty() && info.Codes[0] == "r" && type.wide()) {
      const Column narrow = makeColumn(false);
      Op& op = emit(convertHandler(Convert::kTrunc, Scalar::kInt64, Scalar::kInt32));
      op.result = narrow;
      op.a = at;
      op.bits = 64;
      op.imm = 0xFFFFFFFF;
      at = narrow;
    }
    operands.push_back(at);
  }
  const Components types = componentsOf(call.getType());
  const Columns results = types.empty() ? Columns() : result(call);
  Op& op = emitWithList(row->run, std::string(form->name), results, operands);
  op.aux = row->aux;
}

bool Decoder::decodeLlvmIntrinsic(const llvm::IntrinsicInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (hasNoEffect(id) || llvm::isa<llvm::DbgInfoIntrinsic>(call)) return true;
  const Components types = componentsOf(call.getType());
  if (auto kind = binaryIntrinsic(id)) {
    const Columns a = columns(call.getArgOperand(0)), b = columns(call.getArgOperand(1)), r = result(call);
    for (size_t i = 0; i < r.size(); i++) emitBinary(*kind, types[i], r[i], a[i], b[i]);
    return true;
  }
  if (auto kind = unaryIntrinsic(id)) {
    const Columns a = columns(call.getArgOperand(0)), r = result(call);
    for (size_t i = 0; i < r.size(); i++) {
      Op& op = emit(unaryHandler(*kind, types[i].scalar));
      op.result = r[i];
      op.a = a[i];
      op.bits = types[i].bits;
      op.imm = types[i].mask();
    }
    return true;
  }
  if (auto kind = ternaryIntrinsic(id)) {
    const Columns a = columns(call.getArgOperand(0)), b = columns(call.getArgOperand(1)), c = columns(call.getArgOperand(2)),
                  r = result(call);
    for (size_t i = 0; i < r.size(); i++) {
      Op& op = emit(ternaryHandler(*kind, types[i].scalar));
      op.result = r[i];
      op.a = a[i];
      op.b = b[i];
      op.c = c[i];
      op.bits = types[i].bits;
      op.imm = types[i].mask();
    }
    return true;
  }
  if (auto kinds = overflowIntrinsic(id)) {
    const Components operand = componentsOf(call.getArgOperand(0)->getType());
    if (operand.size() != 1) return false;
    const Column a = column(call.getArgOperand(0)), b = column(call.getArgOperand(1));
    const Columns r = result(call);
    emitBinary(kinds->first, operand[0], r[0], a, b);
    emitBinary(kinds->second, operand[0], r[1], a, b);
    return true;
  }
  if (id == llvm::Intrinsic::is_fpclass) {
    const Components operand = componentsOf(call.getArgOperand(0)->getType());
    const Columns a = columns(call.getArgOperand(0)), r = result(call);
    for (size_t i = 0; i < r.size(); i++) {
      Op& op = emit(floatClassHandler(operand[i].scalar));
      op.result = r[i];
      op.a = a[i];
      op.imm = llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue();
    }
    return true;
  }
  auto wideCount = [&](const llvm::Value* count) {
    const Component type = componentsOf(count->getType())[0];
    const Column narrow = column(count);
    if (type.wide()) return narrow;
    const Column wide = makeColumn(true);
    Op& op = emit(convertHandler(Convert::kZExt, Scalar::kInt32, Scalar::kInt64));
    op.result = wide;
    op.a = narrow;
    op.bits = 32;
    op.imm = ~uint64_t{0};
    return wide;
  };
  if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call)) {
    const Column to = column(copy->getRawDest()), from = column(copy->getRawSource()), count = wideCount(copy->getLength());
    Op& op = emit(memcpyHandler(), "memcpy");
    op.a = to;
    op.b = from;
    op.c = count;
    op.aux = copy->getDestAddressSpace() | static_cast<uint64_t>(copy->getSourceAddressSpace()) << 32;
    return true;
  }
  if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&call)) {
    const Column to = column(set->getRawDest()), byte = column(set->getValue()), count = wideCount(set->getLength());
    Op& op = emit(memsetHandler(), "memset");
    op.a = to;
    op.b = byte;
    op.c = count;
    op.aux = set->getDestAddressSpace();
    return true;
  }
  return false;
}

}  // namespace nereid::emulator
