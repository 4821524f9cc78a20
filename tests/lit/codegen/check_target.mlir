// RUN: %nereid-opt %s --check-target --target sm_120a | FileCheck %s
// RUN: not %nereid-opt %s --check-target --target sm_80 2>&1 | FileCheck %s --check-prefix=SM80

// CHECK: llvm.func @kernel
// SM80: error: {{.*}}nvvm.setmaxregister
llvm.func @kernel() attributes {nvvm.kernel} {
  nvvm.setmaxregister increase 152
  llvm.return
}
