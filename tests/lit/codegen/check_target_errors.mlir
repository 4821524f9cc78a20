// RUN: not %nereid-opt %s --check-target --target sm_120a 2>&1 | FileCheck %s

// Inline PTX is taken from one table; anything else is refused before code is generated.
// CHECK: error: {{.*}}inline
llvm.func @kernel() attributes {nvvm.kernel} {
  llvm.inline_asm has_side_effects "trap;", "" : () -> ()
  llvm.return
}
