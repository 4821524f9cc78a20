// RUN: %nereid-opt %s --tile-to-gpu --gpu-to-llvm --schedule warps=1 --target sm_120a | FileCheck %s
// RUN: %nereid-opt %s --tile-to-host --host-to-llvm | FileCheck %s --check-prefix=HOST

// Both ways end in the llvm and nvvm dialects, without a cast that would stand for an op that was left over.
// CHECK-NOT: {{(tile|arith|scf|vector|func|cf|math)\.}}
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.func @kernel(%arg0: !llvm.ptr, %arg1: f32) attributes {nvvm.kernel, {{.*}}nvvm.maxntid = array<i32: 32>}
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.cond_br
// CHECK-NOT: {{(tile|arith|scf|vector|func|cf|math)\.}}
// CHECK-NOT: unrealized_conversion_cast
// HOST-NOT: {{(tile|arith|scf|vector|func|cf|math|memref)\.}}
// HOST-NOT: unrealized_conversion_cast
// HOST: llvm.func @kernel(%arg0: !llvm.ptr, %arg1: i64)
// HOST: llvm.intr.exp2({{.*}}) : (vector<16xf32>) -> vector<16xf32>
// HOST-NOT: {{(tile|arith|scf|vector|func|cf|math|memref)\.}}
// HOST-NOT: unrealized_conversion_cast
func.func @kernel(%p: !llvm.ptr {tile.align = 16 : i32}, %x: f32) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<128xi32>
  %a = tile.load %p[%at] : tensor<128xi32>, tensor<128xf32>
  %s = tile.splat %x : f32 -> tensor<128xf32>
  %b = arith.mulf %a, %s : tensor<128xf32>
  %c = math.exp2 %b : tensor<128xf32>
  %end = arith.constant dense<64> : tensor<128xi32>
  %ok = arith.cmpi slt, %at, %end : tensor<128xi32>
  tile.store %p[%at], %c mask %ok : tensor<128xi32>, tensor<128xf32>, tensor<128xi1>
  return
}
