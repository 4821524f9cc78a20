// RUN: %nereid-opt %s --nereid-lower-gpu-math | FileCheck %s

// CHECK-LABEL: func.func @math
func.func @math(%x: f32) -> (f32, f32) {
  // CHECK: llvm.nvvm.ex2.approx
  %e = math.exp2 %x : f32
  // CHECK: llvm.nvvm.lg2.approx
  %l = math.log2 %x : f32
  return %e, %l : f32, f32
}
