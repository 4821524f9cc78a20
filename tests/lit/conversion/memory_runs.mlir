// RUN: %nereid-opt %s --lower-kernel | FileCheck %s

// Neighbours along a row are one access wherever their registers stand: here columns 0 to 3 are registers 0, 1, 4, 5 of the first
// row and 2, 3, 6, 7 of the row 8 further down.
#a = #tile.layout<rank = 2, reg = [0, 1, 8, 0, 0, 2], lane = [0, 4, 0, 8, 1, 0, 2, 0, 4, 0], warp = []>
// CHECK-LABEL: llvm.func @rows
// CHECK: %[[FIRST:.*]] = llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
// CHECK: %[[A:.*]] = llvm.bitcast %[[FIRST]] : vector<2xi32> to vector<4xbf16>
// CHECK: %[[E0:.*]] = vector.extract %[[A]][0]
// CHECK: %[[E1:.*]] = vector.extract %[[A]][1]
// CHECK: %[[E2:.*]] = vector.extract %[[A]][2]
// CHECK: %[[E3:.*]] = vector.extract %[[A]][3]
// CHECK: llvm.load {{.*}} -> vector<2xi32>
// CHECK-NOT: llvm.load
// CHECK: vector.from_elements %[[E0]], %[[E1]] : vector<2xbf16>
// CHECK: vector.from_elements %[[E2]], %[[E3]] : vector<2xbf16>
// Stores put them together again.
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
func.func @rows(%p: !llvm.ptr {tile.align = 16 : i32}) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %r = tile.range 0 : tensor<16xi32, #tile.layout<rank = 1, reg = [8], lane = [0, 0, 1, 2, 4], warp = []>>
  %c = tile.range 0 : tensor<16xi32, #tile.layout<rank = 1, reg = [1, 2], lane = [4, 8, 0, 0, 0], warp = []>>
  %pitch = arith.constant dense<16> : tensor<16xi32, #tile.layout<rank = 1, reg = [8], lane = [0, 0, 1, 2, 4], warp = []>>
  %row = arith.muli %r, %pitch : tensor<16xi32, #tile.layout<rank = 1, reg = [8], lane = [0, 0, 1, 2, 4], warp = []>>
  %rows = tile.broadcast %row dim 0 : tensor<16xi32, #tile.layout<rank = 1, reg = [8], lane = [0, 0, 1, 2, 4], warp = []>> -> tensor<16x16xi32, #a>
  %cols = tile.broadcast %c dim 1 : tensor<16xi32, #tile.layout<rank = 1, reg = [1, 2], lane = [4, 8, 0, 0, 0], warp = []>> -> tensor<16x16xi32, #a>
  %at = arith.addi %rows, %cols : tensor<16x16xi32, #a>
  %x = tile.load %p[%at] : tensor<16x16xi32, #a>, tensor<16x16xbf16, #a>
  tile.store %p[%at], %x : tensor<16x16xi32, #a>, tensor<16x16xbf16, #a>
  return
}
