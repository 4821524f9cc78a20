// RUN: %nereid-opt %s --lower-kernel --target sm_90a | FileCheck %s

// Addends through a channel: each of the two warps of the writer stores its own, 32 rows of 160 bytes behind the other's; the
// reader adds what lies at both.
#acc = #tile.layout<rank = 2, reg = [0, 1, 8, 0, 0, 8, 0, 16, 16, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = [0, 0]>
#rows = #tile.layout<rank = 2, reg = [0, 1, 0, 2, 4, 0, 8, 0, 16, 0], lane = [0, 4, 0, 8, 0, 16, 1, 0, 2, 0], warp = []>
#s = #tile.shared<pitch = 160, column_major = false>
// CHECK-LABEL: llvm.func @addends
// CHECK: %[[BASE:.*]] = llvm.mlir.addressof
// The slot holds two tiles of 5120 bytes; its barriers follow.
// CHECK: llvm.getelementptr %[[BASE]][10240]
// CHECK: nvvm.mbarrier.try_wait
// CHECK: %[[OWN:.*]] = arith.muli %{{.*}}, %c5120_i32
// CHECK: llvm.getelementptr %{{.*}}[%[[OWN]]]
// CHECK: llvm.store {{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: else
// CHECK: nvvm.mbarrier.try_wait
// CHECK-COUNT-8: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.getelementptr %{{.*}}[5120]
// CHECK-COUNT-8: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-32: arith.addf
func.func @addends(%p: !llvm.ptr, %x: f32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "main" to ["help"] : <1, tensor<32x32xf32>>
  tile.warps role "help" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %at = arith.constant dense<0> : tensor<32x32xi32, #rows>
    %s = tile.wait %ch[%c0, %c0] : <1, tensor<32x32xf32>> -> tensor<32x32xf32, #s>
    %v = tile.convert_layout %s : tensor<32x32xf32, #s> -> tensor<32x32xf32, #rows>
    tile.release %ch[%c0] : <1, tensor<32x32xf32>>
    tile.store %p[%at], %v : tensor<32x32xi32, #rows>, tensor<32x32xf32, #rows>
  } role "main" warps 2 registers 0 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %v = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
    tile.acquire %ch[%c0, %c1] : <1, tensor<32x32xf32>>
    tile.put %ch[%c0] payload 0, %v {tile.sum = 1 : i32} : <1, tensor<32x32xf32>>, tensor<32x32xf32, #acc>
    tile.commit %ch[%c0] : <1, tensor<32x32xf32>>
  }
  return
}
