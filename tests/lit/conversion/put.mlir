// RUN: %nereid-opt %s --lower-kernel --target sm_90a | FileCheck %s
// RUN: %nereid-opt %s --lower-kernel --target sm_80 | FileCheck %s --check-prefix=SM80

// A value through a channel: the writer waits until the slot is empty, the first copy stores, every lane arrives; the reader waits
// until it is full and every lane gives it back. Two warps write, one reads. sm_80 tests a barrier in a loop, without suspending.
#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = [0]>
#s = #tile.shared<pitch = 4, column_major = false>
#one = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = []>
// CHECK-LABEL: llvm.func @put
// CHECK: %[[BASE:.*]] = llvm.mlir.addressof @nereid_shared
// CHECK: %[[FULL0:.*]] = llvm.getelementptr %[[BASE]][64]
// CHECK: nvvm.mbarrier.init %[[FULL0]], %c64_i32
// CHECK: %[[EMPTY0:.*]] = llvm.getelementptr %[[BASE]][80]
// CHECK: nvvm.mbarrier.init %[[EMPTY0]], %c32_i32
// CHECK: %[[EMPTY:.*]] = llvm.getelementptr %[[BASE]][80]
// CHECK: %[[SLOT:.*]] = arith.muli %arg2, %c8_i32
// CHECK: %[[WAITS:.*]] = llvm.getelementptr %[[EMPTY]][%[[SLOT]]]
// CHECK: nvvm.mbarrier.try_wait %[[WAITS]], %c1_i32
// CHECK: arith.muli %arg2, %c32_i32
// CHECK: scf.if
// CHECK: llvm.store %arg1, %{{.*}} : f32, !llvm.ptr<3>
// CHECK: }
// CHECK: %[[FULL:.*]] = llvm.getelementptr %[[BASE]][64]
// CHECK: %[[HANDS_OVER:.*]] = llvm.getelementptr %[[FULL]]
// CHECK: nvvm.mbarrier.arrive %[[HANDS_OVER]]
// CHECK: else
// CHECK: nvvm.mbarrier.try_wait %{{.*}}, %c0_i32
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[BACK:.*]] = llvm.getelementptr %[[BASE]][80]
// CHECK: %[[GIVES:.*]] = llvm.getelementptr %[[BACK]]
// CHECK: nvvm.mbarrier.arrive %[[GIVES]]
// SM80-LABEL: llvm.func @put
// SM80-NOT: nvvm.fence.mbarrier.init
// SM80-NOT: try_wait
// SM80: scf.while
// SM80: nvvm.mbarrier.test.wait
func.func @put(%p: !llvm.ptr, %x: f32, %slot: i32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "main" to ["tail"] : <2, tensor<8xf32>>
  tile.warps role "tail" warps 1 registers 0 {
    %phase = arith.constant 0 : i32
    %at = arith.constant dense<0> : tensor<8xi32, #one>
    %s = tile.wait %ch[%slot, %phase] : <2, tensor<8xf32>> -> tensor<8xf32, #s>
    %v = tile.convert_layout %s : tensor<8xf32, #s> -> tensor<8xf32, #one>
    tile.release %ch[%slot] : <2, tensor<8xf32>>
    tile.store %p[%at], %v : tensor<8xi32, #one>, tensor<8xf32, #one>
  } role "main" warps 2 registers 0 {
    %phase = arith.constant 1 : i32
    %v = tile.splat %x : f32 -> tensor<8xf32, #v>
    tile.acquire %ch[%slot, %phase] : <2, tensor<8xf32>>
    tile.put %ch[%slot] payload 0, %v : <2, tensor<8xf32>>, tensor<8xf32, #v>
    tile.commit %ch[%slot] : <2, tensor<8xf32>>
  }
  return
}
