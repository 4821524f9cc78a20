// RUN: %nereid-opt %s --split-input-file --apply-schedule --assign-layouts --lower-kernel --schedule 'warps=4' | FileCheck %s

// Two rows of 512 elements on four warps: four of a row in a lane, five shuffles a row, then the other three warps' sums.
// CHECK-LABEL: llvm.func @sum
// CHECK-COUNT-10: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-2: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-6: llvm.load {{.*}} : !llvm.ptr<3> -> f32
func.func @sum(%p: !llvm.ptr {tile.align = 16 : i32}) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<512xi32>
  %x = tile.load %p[%at] : tensor<512xi32>, tensor<512xf32>
  %m = tile.broadcast %at dim 1 : tensor<512xi32> -> tensor<2x512xi32>
  %y = tile.load %p[%m] : tensor<2x512xi32>, tensor<2x512xf32>
  %s = tile.reduce add %y dim 1 : tensor<2x512xf32> -> tensor<2xf32>
  %r = tile.range 0 : tensor<2xi32>
  tile.store %p[%r], %s : tensor<2xi32>, tensor<2xf32>
  return
}

// -----

// Whether any element is true is one vote of the warp.
// CHECK-LABEL: llvm.func @any
// CHECK-NOT: nvvm.shfl.sync bfly
// CHECK: nvvm.vote.sync
func.func @any(%p: !llvm.ptr {tile.align = 4 : i32}, %n: i32) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<32xi32>
  %x = tile.load %p[%at] : tensor<32xi32>, tensor<32xi32>
  %end = tile.splat %n : i32 -> tensor<32xi32>
  %ok = arith.cmpi slt, %x, %end : tensor<32xi32>
  %some = tile.reduce or %ok dim 0 : tensor<32xi1> -> i1
  scf.if %some {
    tile.store %p[%at], %end : tensor<32xi32>, tensor<32xi32>
  }
  return
}
