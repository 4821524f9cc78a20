// RUN: %nereid-opt --list | FileCheck %s --check-prefix=LIST
// LIST: --tile-to-gpu[=until=STAGE]
// LIST: --simplify {{ *}}constants of the exact class
// LIST: --apply-schedule
// LIST: --assign-layouts
// LIST: --lower-kernel
// LIST: --gpu-to-llvm[=until=STAGE]
// LIST: --reconcile-unrealized-casts
// LIST: --check-target
// LIST: --tile-to-host[=until=STAGE]
// LIST: --tile-to-loops
// LIST: --host-to-llvm[=until=STAGE]

// A pipeline ends after the stage that `until` names; each stage is a pass, too.
// RUN: %nereid-opt %s --tile-to-gpu=until=assign-layouts --dump-pass-pipeline --schedule warps=1 2>&1 | FileCheck %s --check-prefix=UNTIL
// UNTIL: simplify,
// UNTIL: partition-roles,
// UNTIL: assign-layouts
// UNTIL-NOT: lower-kernel
// UNTIL: tensor<32xi32, #tile.layout
// RUN: %nereid-opt %s --tile-to-gpu=until=expand-rows --assign-layouts --schedule warps=1 | FileCheck %s --check-prefix=THEN
// THEN: tensor<32xi32, #tile.layout
func.func @kernel(%p: !llvm.ptr) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<32xi32>
  tile.store %p[%at], %at : tensor<32xi32>, tensor<32xi32>
  return
}
