// RUN: %nereid-opt %s | %nereid-opt | FileCheck %s

#l = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = []>
#r = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 0, 0, 0], warp = []>
#acc = #tile.layout<rank = 2, reg = [0, 1, 8, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = [0, 0, 0, 8]>
#whole = #tile.layout<rank = 2, reg = [0, 1, 8, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = [0, 8, 0, 0]>

// A mask of addends is printed where there is one.
// CHECK-LABEL: func.func @attributes
// CHECK-SAME: tensor<4xf32, #tile.layout<rank = 1, reg = [], lane = [1, 2, 0, 0, 0], warp = [0], partial = 1>>
// CHECK-SAME: tensor<8x16xi8, #tile.shared<pitch = 48, column_major = false>>
func.func @attributes(%a: tensor<4xf32, #tile.layout<rank = 1, reg = [], lane = [1, 2, 0, 0, 0], warp = [0], partial = 1>>,
                      %b: tensor<8x16xi8, #tile.shared<pitch = 48, column_major = false>>) {
  return
}

// CHECK-LABEL: func.func @convert
func.func @convert(%a: tensor<8xf32, #l>, %m: tensor<16x16xf32, #acc>, %s: tensor<16x16xf32, #tile.shared<pitch = 80, column_major = true>>) {
  // CHECK: tile.convert_layout %arg0 : tensor<8xf32, #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = []>> -> tensor<8xf32, #tile.layout<rank = 1, reg = [1], lane = [2, 4, 0, 0, 0], warp = []>>
  %b = tile.convert_layout %a : tensor<8xf32, #l> -> tensor<8xf32, #r>
  // CHECK: tile.convert_layout %arg1 {tile.sum = 1 : i32}
  %c = tile.convert_layout %m {tile.sum = 1 : i32} : tensor<16x16xf32, #acc> -> tensor<16x16xf32, #whole>
  // CHECK: tile.convert_layout %arg1 {tile.spread = 1 : i32}
  %d = tile.convert_layout %m {tile.spread = 1 : i32} : tensor<16x16xf32, #acc> -> tensor<16x16xf32, #acc>
  // CHECK: tile.convert_layout %arg2 : tensor<16x16xf32, #tile.shared<pitch = 80, column_major = true>>
  %e = tile.convert_layout %s : tensor<16x16xf32, #tile.shared<pitch = 80, column_major = true>> -> tensor<16x16xf32, #acc>
  return
}
