// RUN: not %nereid-opt %s --target sm_80 --apply-schedule --assign-layouts --lower-kernel --schedule 'warps=1,grid.x=1x1x1' 2>&1 | FileCheck %s
// CHECK: error: target sm_80 has no products of e4m3; convert the operands to f16, or take sm_89 or later

func.func @fp8(%o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf8E4M3FN>
  %b = arith.constant dense<2.0> : tensor<64x16xf8E4M3FN>
  %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>, tensor<16x16xf32>
  %m = tile.reduce max %d dim 1 : tensor<16x16xf32> -> tensor<16xf32>
  %r = tile.range 0 : tensor<16xi32>
  tile.store %o[%r], %m : tensor<16xi32>, tensor<16xf32>
  return
}
