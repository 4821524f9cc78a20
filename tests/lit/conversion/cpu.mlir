// RUN: %nereid-opt %s --tile-to-host | FileCheck %s

// A kernel for one block of the grid, its arguments in an array of slots; a chain of elementwise ops is one loop over vectors of 16.
// CHECK-LABEL: func.func @kernel(%arg0: !llvm.ptr, %arg1: i64)
// CHECK-NOT: tile.
// CHECK: scf.for
// CHECK: vector
// CHECK: return
func.func @kernel(%p: !llvm.ptr {tile.align = 16 : i32}, %x: f32) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<256xi32>
  %a = tile.load %p[%at] : tensor<256xi32>, tensor<256xf32>
  %s = tile.splat %x : f32 -> tensor<256xf32>
  %b = arith.mulf %a, %s : tensor<256xf32>
  %c = arith.addf %b, %a : tensor<256xf32>
  tile.store %p[%at], %c : tensor<256xi32>, tensor<256xf32>
  return
}
