// RUN: %nereid-opt %s --lower-kernel | FileCheck %s

// Kernels of one module share the name of the block's shared memory. Integers of 16 bits are reduced over lanes as words.
#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8, 16], warp = []>
// CHECK-COUNT-1: llvm.mlir.global external @nereid_shared
// CHECK-NOT: llvm.mlir.global
// CHECK: llvm.func @one
// CHECK: arith.extsi %{{.*}} : i16 to i32
// CHECK: nvvm.shfl.sync
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: llvm.func @two
func.func @one(%p: !llvm.ptr, %x: i16) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %at = arith.constant dense<0> : tensor<32xi32, #v>
  %v = tile.splat %x : i16 -> tensor<32xi16, #v>
  %s = tile.reduce max %v dim 0 : tensor<32xi16, #v> -> i16
  %w = tile.splat %s : i16 -> tensor<32xi16, #v>
  tile.store %p[%at], %w : tensor<32xi32, #v>, tensor<32xi16, #v>
  return
}
func.func @two(%p: !llvm.ptr, %x: f32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %at = arith.constant dense<0> : tensor<32xi32, #v>
  %v = tile.splat %x : f32 -> tensor<32xf32, #v>
  tile.store %p[%at], %v : tensor<32xi32, #v>, tensor<32xf32, #v>
  return
}
