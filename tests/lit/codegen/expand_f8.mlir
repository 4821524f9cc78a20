// RUN: %nereid-opt %s --nereid-expand-f8 | FileCheck %s

// Conversions of eight-bit floats become integer arithmetic, of scalars and vectors alike; every other conversion stays.
// CHECK-LABEL: func.func @conversions
// CHECK-NOT: arith.extf {{.*}}f8
// CHECK-NOT: arith.truncf {{.*}}f8
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK-NOT: arith.truncf {{.*}}f8
// CHECK: return
func.func @conversions(%x: f8E4M3FN, %v: vector<4xf8E4M3FN>, %e: f8E8M0FNU, %h: f16, %w: f32) -> (f16, vector<4xf32>, f32, f32, f8E4M3FN, f8E8M0FNU) {
  %a = arith.extf %x : f8E4M3FN to f16
  %b = arith.extf %v : vector<4xf8E4M3FN> to vector<4xf32>
  %c = arith.extf %e : f8E8M0FNU to f32
  %d = arith.extf %h : f16 to f32
  %f = arith.truncf %w : f32 to f8E4M3FN
  %g = arith.truncf %w : f32 to f8E8M0FNU
  return %a, %b, %c, %d, %f, %g : f16, vector<4xf32>, f32, f32, f8E4M3FN, f8E8M0FNU
}
