// RUN: %nereid-opt %s --apply-schedule --target sm_90a --schedule 'roles=load+qk+pv,role.load.warps=4,role.load.groups=2,role.qk.warps=4,role.qk.dots=qk,role.qk.registers=152,role.pv.warps=4,role.pv.dots=pv,grid.qk=1x1x4,grid.pv1=1x2x2,stages=3' | FileCheck %s
// RUN: %nereid-opt %s --apply-schedule --target sm_80 --schedule 'roles=load+qk+pv,role.load.warps=1,role.qk.dots=qk,role.pv.dots=pv' | FileCheck %s --check-prefix=SM80

// A name stands for the labels that add a number to it, unless one has its own entry. Rows of 512 bytes go by bulk copies where the
// target has them.
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: tile.max_registers = 168 : i32
// CHECK-SAME: tile.roles = [{groups = 2 : i32, name = "load", registers = 0 : i32, warps = 4 : i32}, {groups = 1 : i32, name = "qk", registers = 152 : i32, warps = 4 : i32}
// CHECK-SAME: tile.stages = 3 : i32
// SM80-LABEL: func.func @kernel
func.func @kernel(%p: !llvm.ptr {tile.align = 16 : i32}, %a: tensor<16x64xf16>, %b: tensor<64x32xf16>, %c: tensor<16x32xf32>, %rows: tensor<32xi64>, %ok: tensor<32xi1>) attributes {tile.kernel} {
  // CHECK: tile.dot "qk" {{.*}} {tile.grid = array<i32: 1, 1, 4>, tile.role = 1 : i32}
  %d = tile.dot "qk" %a, %b, %c : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  // CHECK: tile.dot "pv0" {{.*}} {tile.grid = array<i32: 1, 4, 1>, tile.role = 2 : i32}
  %e = tile.dot "pv0" %a, %b, %c : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  // CHECK: tile.dot "pv1" {{.*}} {tile.grid = array<i32: 1, 2, 2>, tile.role = 2 : i32}
  %f = tile.dot "pv1" %a, %b, %c : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  // CHECK: tile.gather_rows {{.*}} {tile.bulk = true}
  // SM80: tile.gather_rows {{.*}} {tile.bulk = false}
  %wide = tile.gather_rows %p[%rows] mask %ok align 16 : tensor<32xi64>, tensor<32xi1>, tensor<32x512xi8>
  // CHECK: tile.gather_rows {{.*}} {tile.bulk = false}
  %short = tile.gather_rows %p[%rows] mask %ok align 16 : tensor<32xi64>, tensor<32xi1>, tensor<32x256xi8>
  return
}
