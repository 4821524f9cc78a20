// RUN: %nereid-opt %s --apply-schedule --partition-roles --target sm_90a --schedule 'roles=load+main,role.load.warps=2,role.main.warps=1,role.main.dots=x,grid.x=1x1x1,stages=3' | FileCheck %s
// RUN: %nereid-opt %s --apply-schedule --partition-roles --target sm_90a --schedule 'roles=load+main,role.load.warps=2,role.load.groups=2,role.main.warps=1,role.main.dots=x,grid.x=1x1x1,stages=3' | FileCheck %s --check-prefix=GROUPS
// RUN: %nereid-opt %s --apply-schedule --partition-roles --target sm_90a --schedule 'warps=1' | FileCheck %s --check-prefix=ALONE

// The role `load` gathers rows into a ring; the other waits for them, uses them, and gives the slot back. Indices are read one
// iteration ahead. Without roles nothing changes.
// CHECK-LABEL: func.func @kernel
// CHECK: %[[CH:.*]] = tile.channel from "load" to ["main"] : <3, tensor<16x512xi8>>
// CHECK: role "load" warps 2 registers 0
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[AHEAD:.*]] = %[[FIRST]])
// CHECK: tile.load
// CHECK: tile.acquire %[[CH]]
// CHECK: tile.copy_rows %[[CH]]{{.*}} payload 0 {{.*}} bulk true
// CHECK: tile.commit %[[CH]]
// CHECK-NOT: tile.dot
// CHECK: role "main" warps 1 registers 0
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: %[[ROWS:.*]] = tile.wait %[[CH]]
// CHECK: tile.view %[[ROWS]]
// CHECK: tile.dot "x"
// CHECK: tile.release %[[CH]]
// CHECK: tile.store
// CHECK-NOT: tile.gather_rows

// Two groups take iterations in turn: each starts at its own and steps over the other's.
// GROUPS: role "load" warps 2 groups 2
// GROUPS: %[[G:.*]] = tile.group_id
// GROUPS: %[[SHIFT:.*]] = arith.muli %[[G]], %[[STEP:.*]] : i32
// GROUPS: %[[LOW:.*]] = arith.addi %{{.*}}, %[[SHIFT]] : i32
// GROUPS: %[[DOUBLE:.*]] = arith.muli %[[STEP]], %{{.*}} : i32
// GROUPS: scf.for %{{.*}} = %[[LOW]] to %{{.*}} step %[[DOUBLE]]
// GROUPS: role "main" warps 1 registers

// ALONE: tile.gather_rows
// ALONE-NOT: tile.channel
func.func @kernel(%pool: !llvm.ptr {tile.align = 16 : i32}, %list: !llvm.ptr {tile.align = 4 : i32}, %out: !llvm.ptr {tile.align = 4 : i32}, %a: !llvm.ptr {tile.align = 16 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %ones = arith.constant dense<1.0> : tensor<16x256xf16>
  %ok = arith.constant dense<true> : tensor<16xi1>
  %lane = tile.range 0 : tensor<16xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %first = tile.splat %i : i32 -> tensor<16xi32>
    %at = arith.addi %first, %lane : tensor<16xi32>
    %index = tile.load %list[%at] : tensor<16xi32>, tensor<16xi32>
    %offset = arith.extsi %index : tensor<16xi32> to tensor<16xi64>
    %rows = tile.gather_rows %pool[%offset] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x512xi8>
    %k = tile.view %rows at 0 : tensor<16x512xi8> -> tensor<16x256xf16>
    %kt = tile.trans %k : tensor<16x256xf16> -> tensor<256x16xf16>
    %d = tile.dot "x" %ones, %kt, %acc : tensor<16x256xf16>, tensor<256x16xf16>, tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %r = tile.broadcast %lane dim 0 : tensor<16xi32> -> tensor<16x16xi32>
  tile.store %out[%r], %sum : tensor<16x16xi32>, tensor<16x16xf32>
  return
}
