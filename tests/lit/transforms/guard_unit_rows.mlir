// RUN: %nereid-opt %s --guard-unit-rows | FileCheck %s

// CHECK-LABEL: func.func @marks
func.func @marks(%acc: tensor<16x8xf32>, %grows: tensor<16xi1>, %v: tensor<16xf32>, %w: tensor<16xf32>) -> tensor<16x8xf32> {
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %keep = arith.select %grows, %v, %one : tensor<16xi1>, tensor<16xf32>
  %also = arith.select %grows, %one, %w : tensor<16xi1>, tensor<16xf32>
  %both = arith.mulf %keep, %also : tensor<16xf32>
  %k = tile.broadcast %keep dim 0 : tensor<16xf32> -> tensor<16x8xf32>
  %b = tile.broadcast %both dim 0 : tensor<16xf32> -> tensor<16x8xf32>
  // CHECK: arith.mulf %arg0, %{{.*}} {tile.skip_if_unit = 1 : i32}
  %x = arith.mulf %acc, %k : tensor<16x8xf32>
  // CHECK: arith.mulf %{{.*}}, %{{.*}} {tile.skip_if_unit = 0 : i32}
  %y = arith.mulf %b, %x : tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// A factor that is not a choice between a value and one, or no row factor, is multiplied always.
// CHECK-LABEL: func.func @leaves
// CHECK-NOT: skip_if_unit
func.func @leaves(%acc: tensor<16x8xf32>, %grows: tensor<16xi1>, %v: tensor<16xf32>) -> tensor<16x8xf32> {
  %two = arith.constant dense<2.0> : tensor<16xf32>
  %keep = arith.select %grows, %v, %two : tensor<16xi1>, tensor<16xf32>
  %k = tile.broadcast %keep dim 0 : tensor<16xf32> -> tensor<16x8xf32>
  %x = arith.mulf %acc, %k : tensor<16x8xf32>
  %u = tile.broadcast %v dim 0 : tensor<16xf32> -> tensor<16x8xf32>
  %y = arith.mulf %x, %u : tensor<16x8xf32>
  %z = arith.mulf %y, %acc : tensor<16x8xf32>
  return %z : tensor<16x8xf32>
}

// Half as wide numbers come in pairs, which are multiplied as one.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: skip_if_unit
func.func @halves(%acc: tensor<16x8xf16>, %grows: tensor<16xi1>, %v: tensor<16xf16>) -> tensor<16x8xf16> {
  %one = arith.constant dense<1.0> : tensor<16xf16>
  %keep = arith.select %grows, %v, %one : tensor<16xi1>, tensor<16xf16>
  %k = tile.broadcast %keep dim 0 : tensor<16xf16> -> tensor<16x8xf16>
  %x = arith.mulf %acc, %k : tensor<16x8xf16>
  return %x : tensor<16x8xf16>
}
