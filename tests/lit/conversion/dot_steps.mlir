// RUN: %nereid-opt %s --split-input-file --apply-schedule --assign-layouts --lower-kernel --schedule 'warps=1,grid.x=1x1x1' | FileCheck %s

// A step of 16 of k is one mma, and each adds to what the step before left.
// CHECK-LABEL: llvm.func @steps
// CHECK: %[[D0:.*]] = nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%[[Z:.*]], %[[Z]], %[[Z]], %[[Z]]] {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK: %[[A:.*]] = llvm.extractvalue %[[D0]][0]
// CHECK: %[[B:.*]] = llvm.extractvalue %[[D0]][1]
// CHECK: %[[C:.*]] = llvm.extractvalue %[[D0]][2]
// CHECK: %[[D:.*]] = llvm.extractvalue %[[D0]][3]
// CHECK: nvvm.mma.sync {{.*}} C[%[[A]], %[[B]], %[[C]], %[[D]]]
// CHECK: nvvm.mma.sync
// CHECK: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
func.func @steps(%o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf16>
  %b = arith.constant dense<2.0> : tensor<64x8xf16>
  %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf16>, tensor<64x8xf16>, tensor<16x8xf32>
  %at = arith.constant dense<0> : tensor<16x8xi32>
  tile.store %o[%at], %d : tensor<16x8xi32>, tensor<16x8xf32>
  return
}

// -----

// Of one-byte operands a step is 32 of k.
// CHECK-LABEL: llvm.func @bytes
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"({{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32)
// CHECK-NOT: call_intrinsic
// CHECK: llvm.return
func.func @bytes(%o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf8E4M3FN>
  %b = arith.constant dense<2.0> : tensor<64x8xf8E4M3FN>
  %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>
  %at = arith.constant dense<0> : tensor<16x8xi32>
  tile.store %o[%at], %d : tensor<16x8xi32>, tensor<16x8xf32>
  return
}
