// RUN: %nereid-opt %s | %nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %m: tensor<16x8xi1>) -> (tensor<16xf32>, i1) {
  // CHECK: tile.dot "qk" %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  %d = tile.dot "qk" %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  // CHECK: tile.reduce max %{{.*}} dim 1 : tensor<16x8xf32> -> tensor<16xf32>
  %r = tile.reduce max %d dim 1 : tensor<16x8xf32> -> tensor<16xf32>
  // CHECK: tile.reduce or %{{.*}} dim 0 : tensor<16x8xi1> -> tensor<8xi1>
  %o = tile.reduce or %m dim 0 : tensor<16x8xi1> -> tensor<8xi1>
  // CHECK: tile.reduce or %{{.*}} dim 0 : tensor<8xi1> -> i1
  %any = tile.reduce or %o dim 0 : tensor<8xi1> -> i1
  return %r, %any : tensor<16xf32>, i1
}
