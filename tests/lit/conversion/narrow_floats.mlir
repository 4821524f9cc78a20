// RUN: %nereid-opt %s --lower-kernel --expand-f8 --target sm_90a | FileCheck %s
// RUN: %nereid-opt %s --lower-kernel --expand-f8 --target sm_80 | FileCheck %s --check-prefix=SM80

// Eight-bit floats: by instructions in pairs where the target has them, else by integer arithmetic. A power of two is its code as
// f32's exponent; code 0 is a subnormal, 255 a NaN.
#v = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = []>
// CHECK-LABEL: llvm.func @floats
// CHECK: nvvm.convert.f8x2.to.f16x2 {{.*}}f8E4M3FN{{.*}} -> vector<2xf16>
// CHECK: arith.shli %{{.*}}, %c23_i32
// CHECK: arith.select %{{.*}}, %c4194304_i32
// CHECK: arith.select %{{.*}}, %c2143289344_i32
// CHECK: %[[FIRST:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: %[[SECOND:.*]] = arith.bitcast %{{.*}} : i32 to f32
// The first element is the low byte.
// CHECK: nvvm.convert.f32x2.to.f8x2 %[[SECOND]], %[[FIRST]] {{.*}}satfinite
// SM80-LABEL: llvm.func @floats
// SM80-NOT: nvvm.convert
// SM80-NOT: arith.extf {{.*}}f8E4M3FN
// SM80-NOT: arith.truncf {{.*}}f8E4M3FN
// SM80: llvm.return
func.func @floats(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %i = tile.range 0 : tensor<64xi32, #v>
  %codes = tile.load %p[%i] : tensor<64xi32, #v>, tensor<64xf8E4M3FN, #v>
  %halves = arith.extf %codes : tensor<64xf8E4M3FN, #v> to tensor<64xf16, #v>
  tile.store %p[%i], %halves : tensor<64xi32, #v>, tensor<64xf16, #v>
  %scales = tile.load %p[%i] : tensor<64xi32, #v>, tensor<64xf8E8M0FNU, #v>
  %wide = arith.extf %scales : tensor<64xf8E8M0FNU, #v> to tensor<64xf32, #v>
  %narrow = arith.truncf %wide : tensor<64xf32, #v> to tensor<64xf8E4M3FN, #v>
  tile.store %p[%i], %narrow : tensor<64xi32, #v>, tensor<64xf8E4M3FN, #v>
  return
}
