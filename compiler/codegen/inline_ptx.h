// The one table of inline PTX. NVVM ops and LLVM intrinsics come first; a form is here only where neither exists, or where the
// NVVM dialect itself prints PTX text. Text outside this table is refused by checkTarget, so each form can be checked against a
// target, printed and executed by name.
#pragma once
#include <span>
#include <string_view>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace nereid::compiler {

enum class PtxEffect {
  kPure,    // a function of its operands, or a load of memory that no thread writes while the kernel runs
  kWrites,  // writes memory
  kSync,    // waits for or signals other threads
};

struct InlinePtxForm {
  const char* name;
  const char* text;
  const char* constraints;  // LLVM's: results "=r,…", operands, clobbers
  int min_sm;
  int min_ptx;  // 74: PTX 7.4
  PtxEffect effect;
  bool from_nvvm = false;  // convert-nvvm-to-llvm prints it; emitInlinePtx does not
};

std::span<const InlinePtxForm> inlinePtxForms();
const InlinePtxForm* findInlinePtx(std::string_view name);
// nullptr where the text is not in the table. Empty `constraints` matches on the text alone (nvvm.inline_ptx carries none).
const InlinePtxForm* matchInlinePtx(std::string_view text, std::string_view constraints);

// Emits form `name` as llvm.inline_asm and returns its results (i32 for "r", i64 "l", i16 "h", f32 "f"). Operands in the order of
// the text; a shared pointer (address space 3) passed for "r" becomes its 32-bit address. The name must be in the table and the
// operand count must fit: both are programming errors (assert).
llvm::SmallVector<mlir::Value> emitInlinePtx(mlir::OpBuilder& builder, mlir::Location location, std::string_view name,
                                             mlir::ValueRange operands);

}  // namespace nereid::compiler
