// Refuses, before code generation, what a target or its PTX version lacks. LLVM's back end ends the process on such ops
// ("Cannot select"), so nothing reaches it that is not in the tables here.
#pragma once
#include <span>

#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::compiler {

// What an op needs. Rows of one op are tried in order; the first whose `applies` holds decides.
struct TargetRule {
  const char* op;                        // "nvvm.ldmatrix", an intrinsic "llvm.nvvm.…", or a prefix ending in '*'
  const char* variant;                   // words for the message; "" for the op as such
  bool (*applies)(mlir::Operation* op);  // nullptr: always
  int min_sm;                            // 0: on no target that Nereid compiles for
  const char* only_on;                   // "" or the list of targets that have it, blank between, for architecture-specific ops
  int min_ptx;
};
std::span<const TargetRule> targetRules();              // nvvm ops and llvm.call_intrinsic names
const TargetRule* findTargetRule(mlir::Operation* op);  // nullptr: not in the table

// Checks each nvvm op, llvm.call_intrinsic, inline PTX (inline_ptx.h) and shared-memory global of the module. The error is
// kUnsupported, names the op, the target and what it needs, and has the op's location.
Status checkTarget(mlir::ModuleOp module, const Target& target);

}  // namespace nereid::compiler
