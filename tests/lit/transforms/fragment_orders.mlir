// RUN: %nereid-opt %s --split-input-file --assign-layouts | FileCheck %s

// Bytes that run along k come four neighbours a lane from ldmatrix, bytes that run along n two by two; halves as mma wants them. All
// operands of a product and its accumulator agree. The conversion to f16 is done in the operand's layout.
// CHECK-LABEL: func.func @along_k
// CHECK: %[[ROWS:.*]] = tile.wait {{.*}} -> tensor<16x64xi8, #tile.shared<pitch = 80, column_major = false>>
// CHECK: %[[VIEW:.*]] = tile.view %[[ROWS]] at 0 : {{.*}} -> tensor<16x64xf8E4M3FN, #tile.shared<pitch = 80, column_major = false>>
// CHECK: %[[TURNED:.*]] = tile.trans %[[VIEW]] : {{.*}} -> tensor<64x16xf8E4M3FN, #tile.shared<pitch = 80, column_major = true>>
// CHECK: %[[LOADED:.*]] = tile.convert_layout %[[TURNED]] : {{.*}} -> tensor<64x16xf8E4M3FN, #tile.layout<rank = 2, reg = [1, 0, 2, 0, 16, 0, 32, 0, 0, 8], lane = [4, 0, 8, 0, 0, 1, 0, 2, 0, 4], warp = []>>
// CHECK: %[[B:.*]] = arith.extf %[[LOADED]]
// CHECK-NOT: tile.convert_layout
// CHECK: tile.dot "x" %{{.*}}, %[[B]], %{{.*}} : tensor<16x64xf16, #tile.layout<rank = 2, reg = [0, 1, 8, 0, 0, 2, 0, 16, 0, 32], lane = [0, 4, 0, 8, 1, 0, 2, 0, 4, 0], warp = []>>
func.func @along_k(%p: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel, tile.warps = 1 : i32} {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<16x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %a = arith.constant dense<1.0> : tensor<16x64xf16>
    %at = arith.constant dense<0> : tensor<16x16xi32>
    %rows = tile.wait %ch[%c0, %c0] : <1, tensor<16x64xi8>> -> tensor<16x64xi8>
    %v = tile.view %rows at 0 : tensor<16x64xi8> -> tensor<16x64xf8E4M3FN>
    %t = tile.trans %v : tensor<16x64xf8E4M3FN> -> tensor<64x16xf8E4M3FN>
    %b = arith.extf %t : tensor<64x16xf8E4M3FN> to tensor<64x16xf16>
    %d = tile.dot "x" %a, %b, %zero {tile.grid = array<i32: 1, 1, 1>} : tensor<16x64xf16>, tensor<64x16xf16>, tensor<16x16xf32>
    tile.store %p[%at], %d : tensor<16x16xi32>, tensor<16x16xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @along_n
// CHECK: tile.convert_layout {{.*}} -> tensor<16x64xf8E4M3FN, #tile.layout<rank = 2, reg = [1, 0, 0, 1, 8, 0, 0, 16, 0, 32], lane = [2, 0, 4, 0, 0, 2, 0, 4, 0, 8], warp = []>>
// CHECK: tile.dot "x" {{.*}}, tensor<16x64xf32, #tile.layout<rank = 2, reg = [0, 2, 8, 0, 0, 1, 0, 16, 0, 32], lane = [0, 4, 0, 8, 1, 0, 2, 0, 4, 0], warp = []>>
func.func @along_n(%p: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel, tile.warps = 1 : i32} {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<16x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32>
    %a = arith.constant dense<1.0> : tensor<16x16xf16>
    %at = arith.constant dense<0> : tensor<16x64xi32>
    %rows = tile.wait %ch[%c0, %c0] : <1, tensor<16x64xi8>> -> tensor<16x64xi8>
    %v = tile.view %rows at 0 : tensor<16x64xi8> -> tensor<16x64xf8E4M3FN>
    %b = arith.extf %v : tensor<16x64xf8E4M3FN> to tensor<16x64xf16>
    %d = tile.dot "x" %a, %b, %zero {tile.grid = array<i32: 1, 1, 1>} : tensor<16x16xf16>, tensor<16x64xf16>, tensor<16x64xf32>
    tile.store %p[%at], %d : tensor<16x64xi32>, tensor<16x64xf32>
  }
  return
}

// -----

// A sum as the next product's operand passes to other lanes at its narrowest, and what follows is done in the operand's layout.
// CHECK-LABEL: func.func @chained
// CHECK: %[[D:.*]] = tile.dot "x"
// CHECK-NOT: tile.convert_layout
// CHECK: %[[H:.*]] = arith.truncf %[[D]]
// CHECK: %[[PASSED:.*]] = tile.convert_layout %[[H]] : {{.*}} -> tensor<16x16xf16, #tile.layout<[[OPERAND:rank = 2, reg = [^>]*]]>>
// CHECK: %[[SUM:.*]] = arith.addf %[[PASSED]], %{{.*}} : tensor<16x16xf16, #tile.layout<[[OPERAND]]>>
// CHECK: tile.dot "y" %[[SUM]], {{.*}} : tensor<16x16xf16, #tile.layout<[[OPERAND]]>>
func.func @chained(%p: !llvm.ptr {tile.align = 4 : i32}, %b: f16) attributes {tile.kernel, tile.warps = 2 : i32} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %v = tile.splat %b : f16 -> tensor<16x16xf16>
  %at = arith.constant dense<0> : tensor<16x16xi32>
  %d = tile.dot "x" %a, %v, %zero {tile.grid = array<i32: 1, 2, 1>} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %h = arith.truncf %d : tensor<16x16xf32> to tensor<16x16xf16>
  %s = arith.addf %h, %v : tensor<16x16xf16>
  %e = tile.dot "y" %s, %v, %zero {tile.grid = array<i32: 1, 2, 1>} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  tile.store %p[%at], %e : tensor<16x16xi32>, tensor<16x16xf32>
  return
}
