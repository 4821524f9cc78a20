// RUN: %nereid-opt %s --split-input-file --apply-schedule --assign-layouts --lower-kernel --target sm_90a --schedule 'warps=2,grid.x=1x1x2' | FileCheck %s

// Half the reduction a warp: two k steps and two column blocks are four mma; the addends go through shared memory with one barrier, because
// nothing writes the scratch again.
// CHECK-LABEL: llvm.func @joins
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
func.func @joins(%o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf16>
  %b = arith.constant dense<2.0> : tensor<64x16xf16>
  %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf16>, tensor<64x16xf16>, tensor<16x16xf32>
  %m = tile.reduce max %d dim 1 : tensor<16x16xf32> -> tensor<16xf32>
  %r = tile.range 0 : tensor<16xi32>
  tile.store %o[%r], %m : tensor<16xi32>, tensor<16xf32>
  return
}

// -----

// The same in a loop: before the scratch is written again, all warps have read it.
// CHECK-LABEL: llvm.func @joins_in_a_loop
// CHECK: scf.for
// CHECK: nvvm.barrier
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: scf.yield
func.func @joins_in_a_loop(%o: !llvm.ptr {tile.align = 4 : i32}, %n: i32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %low = arith.constant dense<0.0> : tensor<16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.constant dense<1.0> : tensor<16x64xf16>
  %b = arith.constant dense<2.0> : tensor<64x16xf16>
  %max = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %low) -> (tensor<16xf32>) : i32 {
    %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf16>, tensor<64x16xf16>, tensor<16x16xf32>
    %m = tile.reduce max %d dim 1 : tensor<16x16xf32> -> tensor<16xf32>
    %top = arith.maxnumf %m, %so_far : tensor<16xf32>
    scf.yield %top : tensor<16xf32>
  }
  %r = tile.range 0 : tensor<16xi32>
  tile.store %o[%r], %max : tensor<16xi32>, tensor<16xf32>
  return
}

// -----

// CHECK-LABEL: llvm.func @bf16
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
func.func @bf16(%o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xbf16>
  %b = arith.constant dense<2.0> : tensor<64x16xbf16>
  %d = tile.dot "x" %a, %b, %zero : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
  %m = tile.reduce max %d dim 1 : tensor<16x16xf32> -> tensor<16xf32>
  %r = tile.range 0 : tensor<16xi32>
  tile.store %o[%r], %m : tensor<16xi32>, tensor<16xf32>
  return
}
