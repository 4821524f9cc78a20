// RUN: %nereid-opt %s --split-input-file --lower-kernel | FileCheck %s

// Values without memory: a range is the thread's place plus a constant a register, a splat is the scalar in each.
#two = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
// CHECK-LABEL: llvm.func @range
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[LANE:.*]] = arith.andi %[[THREAD]], %c31_i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[L:.*]] = arith.muli %{{.*}}, %c2_i32
// CHECK: %[[W:.*]] = arith.muli %{{.*}}, %c64_i32
// CHECK: %[[AT:.*]] = arith.addi %[[L]], %[[W]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[AT]], %c5_i32
// CHECK: %[[SECOND:.*]] = arith.addi %[[AT]], %c6_i32
// CHECK: llvm.store %[[FIRST]]
// CHECK: llvm.store %[[SECOND]]
func.func @range(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 2 : i32, tile.max_registers = 255 : i32} {
  %x = tile.range 5 : tensor<128xi32, #two>
  tile.store %p[%x], %x : tensor<128xi32, #two>, tensor<128xi32, #two>
  return
}

// -----

// A vector spread over a matrix: the register of the row, no data moves.
#m = #tile.layout<rank = 2, reg = [0, 1, 8, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = []>
#r = #tile.layout<rank = 1, reg = [8], lane = [0, 0, 1, 2, 4], warp = []>
#c = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 0, 0, 0], warp = []>
// CHECK-LABEL: llvm.func @broadcast
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c2_i32
// CHECK: %[[NEXT_COLUMN:.*]] = arith.addi %[[COLUMN]], %c1_i32
// CHECK: %[[ROW:.*]] = arith.andi %{{.*}}, %c7_i32
// CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8_i32
// CHECK: arith.addi %[[ROW]], %[[COLUMN]]
// CHECK: arith.addi %[[ROW]], %[[NEXT_COLUMN]]
// CHECK: arith.addi %[[ROW8]], %[[COLUMN]]
// CHECK: arith.addi %[[ROW8]], %[[NEXT_COLUMN]]
func.func @broadcast(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %c = tile.range 0 : tensor<8xi32, #c>
  %r = tile.range 0 : tensor<16xi32, #r>
  %i = tile.broadcast %r dim 0 : tensor<16xi32, #r> -> tensor<16x8xi32, #m>
  %j = tile.broadcast %c dim 1 : tensor<8xi32, #c> -> tensor<16x8xi32, #m>
  %x = arith.addi %i, %j : tensor<16x8xi32, #m>
  tile.store %p[%x], %x : tensor<16x8xi32, #m>, tensor<16x8xi32, #m>
  return
}

// -----

// In registers a transposition is another name for the same registers.
#m = #tile.layout<rank = 2, reg = [0, 1, 8, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = []>
#t = #tile.layout<rank = 2, reg = [1, 0, 0, 8], lane = [2, 0, 4, 0, 0, 1, 0, 2, 0, 4], warp = []>
// CHECK-LABEL: llvm.func @trans
// CHECK: %[[X:.*]] = llvm.bitcast %{{.*}} : i32 to f32
// CHECK-NOT: !llvm.ptr<3> ->
// CHECK: llvm.bitcast %[[X]] : f32 to i32
func.func @trans(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %at = arith.constant dense<0> : tensor<16x8xi32, #m>
  %to = arith.constant dense<0> : tensor<8x16xi32, #t>
  %x = tile.load %p[%at] : tensor<16x8xi32, #m>, tensor<16x8xf32, #m>
  %y = tile.trans %x : tensor<16x8xf32, #m> -> tensor<8x16xf32, #t>
  tile.store %p[%to], %y : tensor<8x16xi32, #t>, tensor<8x16xf32, #t>
  return
}

// -----

// Halves work in pairs where the op has a packed form, one by one where it has none.
#v = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = []>
// CHECK-LABEL: llvm.func @halves
// CHECK: arith.addf {{.*}} : vector<2xbf16>
// CHECK-COUNT-2: arith.maximumf {{.*}} : bf16
// CHECK: arith.truncf {{.*}} : vector<2xf32> to vector<2xf16>
func.func @halves(%p: !llvm.ptr, %a: bf16, %b: bf16) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %i = tile.range 0 : tensor<64xi32, #v>
  %x = tile.splat %a : bf16 -> tensor<64xbf16, #v>
  %y = tile.splat %b : bf16 -> tensor<64xbf16, #v>
  %s = arith.addf %x, %y : tensor<64xbf16, #v>
  %m = arith.maximumf %s, %y : tensor<64xbf16, #v>
  %w = arith.extf %m : tensor<64xbf16, #v> to tensor<64xf32, #v>
  %t = arith.truncf %w : tensor<64xf32, #v> to tensor<64xf16, #v>
  tile.store %p[%i], %t : tensor<64xi32, #v>, tensor<64xf16, #v>
  return
}

// -----

// Products by factors that are mostly one share one branch, which a warp takes if any of its lanes has another factor. A NaN is
// another factor.
#m = #tile.layout<rank = 2, reg = [0, 1, 8, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = []>
#r = #tile.layout<rank = 1, reg = [8], lane = [0, 0, 1, 2, 4], warp = []>
// CHECK-LABEL: llvm.func @guarded
// CHECK: %[[CHANGES:.*]] = arith.cmpf une, %arg1, %cst
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[CHANGES]]
// CHECK: scf.if %[[ANY]]
// CHECK-COUNT-8: arith.mulf
// CHECK: else
// CHECK-NOT: arith.mulf
// CHECK: llvm.return
func.func @guarded(%p: !llvm.ptr, %a: f32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %f = tile.splat %a : f32 -> tensor<16xf32, #r>
  %m = tile.broadcast %f dim 0 : tensor<16xf32, #r> -> tensor<16x8xf32, #m>
  %i = arith.constant dense<0> : tensor<16x8xi32, #m>
  %x = tile.load %p[%i] : tensor<16x8xi32, #m>, tensor<16x8xf32, #m>
  %y = tile.load %p[%i] : tensor<16x8xi32, #m>, tensor<16x8xf32, #m>
  %u = arith.mulf %x, %m {tile.skip_if_unit = 1 : i32} : tensor<16x8xf32, #m>
  %v = arith.mulf %m, %y {tile.skip_if_unit = 0 : i32} : tensor<16x8xf32, #m>
  tile.store %p[%i], %u : tensor<16x8xi32, #m>, tensor<16x8xf32, #m>
  tile.store %p[%i], %v : tensor<16x8xi32, #m>, tensor<16x8xf32, #m>
  return
}
