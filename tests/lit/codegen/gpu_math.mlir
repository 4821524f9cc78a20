// RUN: %nereid-opt %s --nereid-lower-gpu-math | FileCheck %s

// The hardware's approximations; what LLVM has instructions for stays.
// CHECK-LABEL: func.func @math
func.func @math(%x: f32, %v: vector<2xf32>, %i: i32) -> (f32, f32, f32, f32, f32, f32, vector<2xf32>, f32, i32) {
  // CHECK: %[[E2:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%arg0)
  %e2 = math.exp2 %x : f32
  // CHECK: %[[L2:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%arg0)
  %l2 = math.log2 %x : f32
  // e^x is 2^(x log2 e), ln x is log2 x ln 2.
  // CHECK: %[[S:.*]] = arith.mulf %arg0, %{{.*}}
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[S]])
  %e = math.exp %x : f32
  // CHECK: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%arg0)
  // CHECK: arith.mulf %[[L]], %{{.*}}
  %l = math.log %x : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%arg0)
  %r = math.rsqrt %x : f32
  // Near zero 1 - 2/(e^2x + 1) has no digits left.
  // CHECK: %[[FAR:.*]] = arith.subf
  // CHECK: %[[NEAR:.*]] = arith.addf %arg0
  // CHECK: %[[SMALL:.*]] = arith.cmpf olt
  // CHECK: arith.select %[[SMALL]], %[[NEAR]], %[[FAR]]
  %t = math.tanh %x : f32
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  %p = math.exp2 %v : vector<2xf32>
  // CHECK: math.sqrt
  %s = math.sqrt %x : f32
  // CHECK-NOT: arith.ceildivsi
  %d = arith.ceildivsi %i, %i : i32
  return %e2, %l2, %e, %l, %r, %t, %p, %s, %d : f32, f32, f32, f32, f32, f32, vector<2xf32>, f32, i32
}
