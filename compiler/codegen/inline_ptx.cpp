#include "compiler/codegen/inline_ptx.h"

#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace nereid::compiler {
namespace {

using enum PtxEffect;

// The wait loop of nvvm.mbarrier.try_wait.parity, as NVVM prints it for a pointer of the given state space.
#define NEREID_TRY_WAIT_PARITY(space)                                          \
  "{\n\t.reg .pred       P1; \n\tLAB_WAIT: \n\tmbarrier.try_wait.parity" space \
  ".b64 P1, [$0], "                                                            \
  "$1, $2; \n\t@P1 bra.uni DONE; \n\tbra.uni     LAB_WAIT; \n\tDONE: \n\t}"

// Minimum targets: PTX ISA 8.8, "Target ISA Notes" and "PTX ISA Notes" of each instruction.
constexpr InlinePtxForm kForms[] = {
    // cp.async: shared address, global address, bytes that are read (the rest is zero), policy.
    {"cp.async.cg.16.hint", "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2, $3;", "r,l,r,l,~{memory}", 80, 74,
     kWrites},
    {"cp.async.ca.8.hint", "cp.async.ca.shared.global.L2::cache_hint [$0], [$1], 8, $2, $3;", "r,l,r,l,~{memory}", 80, 74,
     kWrites},
    {"cp.async.ca.4.hint", "cp.async.ca.shared.global.L2::cache_hint [$0], [$1], 4, $2, $3;", "r,l,r,l,~{memory}", 80, 74,
     kWrites},
    {"createpolicy.evict_first", "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l", 80, 74, kPure},
    {"createpolicy.evict_last", "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l", 80, 74, kPure},
    // Loads of read-only data that should not displace other lines of L1.
    {"ld.global.nc.no_allocate.v4", "ld.global.nc.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l", 80, 74,
     kPure},
    {"ld.global.nc.no_allocate.v4.hint", "ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;",
     "=r,=r,=r,=r,l,l", 80, 74, kPure},
    {"ld.global.nc.no_allocate.v2", "ld.global.nc.L1::no_allocate.v2.b32 {$0, $1}, [$2];", "=r,=r,l", 80, 74, kPure},
    {"ld.global.nc.no_allocate", "ld.global.nc.L1::no_allocate.b32 $0, [$1];", "=r,l", 80, 74, kPure},
    // Stores of data that this kernel does not read again.
    {"st.global.cs.v4", "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}", 80, 70, kWrites},
    {"st.global.cs.v2", "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}", 80, 70, kWrites},
    {"st.global.cg.v4", "st.global.cg.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}", 80, 70, kWrites},
    {"st.global.no_allocate.v4", "st.global.L1::no_allocate.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}", 80, 74,
     kWrites},
    {"red.add.v4.f32", "red.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}", 90, 81, kWrites},
    // Bitwise function of three words; the last operand is a constant 0…255, bit (a<<2|b<<1|c) is the result for those input
    // bits.
    {"lop3", "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,n", 80, 70, kPure},

    {"nvvm.try_wait.parity.shared", NEREID_TRY_WAIT_PARITY(".shared"), "r,r,r", 90, 78, kSync, true},
    {"nvvm.try_wait.parity", NEREID_TRY_WAIT_PARITY(""), "l,r,r", 90, 78, kSync, true},
    {"nvvm.bar.arrive", "bar.arrive $0, $1;", "r,r", 80, 70, kSync, true},
    {"nvvm.bar.arrive.0", "bar.arrive 0, $0;", "r", 80, 70, kSync, true},
    {"nvvm.mbarrier.init.predicated", "@$2 mbarrier.init.shared.b64 [$0], $1;", "r,r,b", 80, 70, kSync, true},
    {"nvvm.expect_tx.predicated", "@$2 mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,b", 90, 80, kSync, true},
};
#undef NEREID_TRY_WAIT_PARITY

mlir::Type resultType(mlir::OpBuilder& builder, char letter) {
  switch (letter) {
    case 'l': return builder.getI64Type();
    case 'h': return builder.getI16Type();
    case 'f': return builder.getF32Type();
    default: return builder.getI32Type();
  }
}

}  // namespace

std::span<const InlinePtxForm> inlinePtxForms() { return kForms; }

const InlinePtxForm* findInlinePtx(std::string_view name) {
  for (const InlinePtxForm& form : kForms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

const InlinePtxForm* matchInlinePtx(std::string_view text, std::string_view constraints) {
  for (const InlinePtxForm& form : kForms) {
    if (form.text == text && (constraints.empty() || form.constraints == constraints)) return &form;
  }
  return nullptr;
}

llvm::SmallVector<mlir::Value> emitInlinePtx(mlir::OpBuilder& builder, mlir::Location location, std::string_view name,
                                             mlir::ValueRange operands) {
  const InlinePtxForm* form = findInlinePtx(name);
  assert(form && !form->from_nvvm && "inline PTX outside the table");
  llvm::SmallVector<llvm::StringRef> constraints;
  llvm::SplitString(form->constraints, constraints, ",");
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Value> args;
  for (llvm::StringRef constraint : constraints) {
    if (constraint.starts_with("=")) {
      types.push_back(resultType(builder, constraint[1]));
    } else if (!constraint.starts_with("~")) {
      assert(args.size() < operands.size() && "too few operands for the PTX form");
      mlir::Value operand = operands[args.size()];
      auto pointer = mlir::dyn_cast<mlir::LLVM::LLVMPointerType>(operand.getType());
      if (constraint == "r" && pointer && pointer.getAddressSpace() == 3)
        operand = mlir::LLVM::PtrToIntOp::create(builder, location, builder.getI32Type(), operand);
      args.push_back(operand);
    }
  }
  assert(args.size() == operands.size() && "too many operands for the PTX form");

  mlir::Type result;
  if (types.size() == 1) result = types[0];
  if (types.size() > 1) result = mlir::LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto dialect = mlir::LLVM::AsmDialectAttr::get(builder.getContext(), mlir::LLVM::AsmDialect::AD_ATT);
  auto op = mlir::LLVM::InlineAsmOp::create(
      builder, location, result ? mlir::TypeRange(result) : mlir::TypeRange(), args, form->text, form->constraints,
      /*has_side_effects=*/form->effect != kPure, /*is_align_stack=*/false, mlir::LLVM::TailCallKind::None, dialect,
      /*operand_attrs=*/mlir::ArrayAttr());
  if (types.empty()) return {};
  if (types.size() == 1) return {op.getRes()};
  llvm::SmallVector<mlir::Value> results;
  for (int64_t i = 0; i < static_cast<int64_t>(types.size()); i++)
    results.push_back(mlir::LLVM::ExtractValueOp::create(builder, location, op.getRes(), llvm::ArrayRef<int64_t>{i}));
  return results;
}

}  // namespace nereid::compiler
