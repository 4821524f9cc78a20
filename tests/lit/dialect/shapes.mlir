// RUN: %nereid-opt %s | %nereid-opt | FileCheck %s
// RUN: %nereid-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: f32, %bytes: tensor<8x96xi8>, %v: tensor<8xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>, tensor<8x16xbf16>, tensor<8xf32>, tensor<8x32xi8>) {
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<8x16xf32>
  %s = tile.splat %x : f32 -> tensor<8x16xf32>
  // CHECK: tile.broadcast %{{.*}} dim 0 : tensor<8xf32> -> tensor<8x16xf32>
  %b = tile.broadcast %v dim 0 : tensor<8xf32> -> tensor<8x16xf32>
  %sum = arith.addf %s, %b : tensor<8x16xf32>
  // CHECK: tile.trans %{{.*}} : tensor<8x16xf32> -> tensor<16x8xf32>
  %t = tile.trans %sum : tensor<8x16xf32> -> tensor<16x8xf32>
  // CHECK: tile.view %{{.*}} at 64 : tensor<8x96xi8> -> tensor<8x16xbf16>
  %w = tile.view %bytes at 64 : tensor<8x96xi8> -> tensor<8x16xbf16>
  // CHECK: tile.view %{{.*}} at 92 : tensor<8x96xi8> -> tensor<8xf32>
  %c = tile.view %bytes at 92 : tensor<8x96xi8> -> tensor<8xf32>
  // CHECK: tile.view %{{.*}} at 0 : tensor<8x16xbf16> -> tensor<8x32xi8>
  %back = tile.view %w at 0 : tensor<8x16xbf16> -> tensor<8x32xi8>
  // CHECK: tile.staged %{{.*}} : tensor<8xf32>
  %g = tile.staged %c : tensor<8xf32>
  return %sum, %t, %w, %g, %back : tensor<8x16xf32>, tensor<16x8xf32>, tensor<8x16xbf16>, tensor<8xf32>, tensor<8x32xi8>
}

// FOLD-LABEL: func.func @folds
func.func @folds(%m: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<4xi32>) {
  %t = tile.trans %m : tensor<8x16xf32> -> tensor<16x8xf32>
  %u = tile.trans %t : tensor<16x8xf32> -> tensor<8x16xf32>
  %c = arith.constant 7 : i32
  %s = tile.splat %c : i32 -> tensor<4xi32>
  // FOLD: %[[SEVEN:.*]] = arith.constant dense<7> : tensor<4xi32>
  // FOLD-NOT: tile.
  // FOLD: return %arg0, %[[SEVEN]]
  return %u, %s : tensor<8x16xf32>, tensor<4xi32>
}
