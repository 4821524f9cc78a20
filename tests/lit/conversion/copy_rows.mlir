// RUN: %nereid-opt %s --split-input-file --lower-kernel --target sm_90a | FileCheck %s

// By the bulk engine a lane copies a row and expects its bytes; a masked row is zeroed by stores, which a fence orders with the copies
// of the slot's next round. Eight rows in 32 lanes: the first copy of each.
#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = []>
// CHECK-LABEL: llvm.func @bulk
// CHECK: arith.andi %{{.*}}, %c24_i32
// CHECK: %[[OWN:.*]] = arith.cmpi eq
// CHECK: %[[COPIES:.*]] = arith.andi %{{.*}}, %[[OWN]]
// CHECK: %[[BYTES:.*]] = arith.select %[[COPIES]], %{{.*}}, %{{.*}} : i32
// CHECK: scf.if %[[COPIES]]
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: scf.if
// CHECK: scf.for {{.*}} = %c0_i32{{.*}} to %c64_i32{{.*}} step %c16_i32
// CHECK: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy {{.*}}async.shared
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
func.func @bulk(%p: !llvm.ptr, %c: i1) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <2, tensor<8x64xi8>>
  tile.warps role "load" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %at = arith.constant dense<0> : tensor<8xi64, #v>
    %ok = tile.splat %c : i1 -> tensor<8xi1, #v>
    tile.acquire %ch[%c0, %c1] : <2, tensor<8x64xi8>>
    tile.copy_rows %ch[%c0] payload 0 from %p[%at] mask %ok align 16 bulk true : <2, tensor<8x64xi8>>, tensor<8xi64, #v>, tensor<8xi1, #v>
    tile.commit %ch[%c0] : <2, tensor<8x64xi8>>
  } role "main" warps 1 registers 0 {}
  return
}

// -----

// By asynchronous copies the lanes share a row: 16 bytes each past L1, 8 and 4 through it. A masked row reads no byte, so all of it is
// zero. The barrier counts every lane twice: for itself, and when its copies have landed.
#v = #tile.layout<rank = 1, reg = [], lane = [0, 0, 1, 2, 4], warp = []>
// CHECK-LABEL: llvm.func @async
// CHECK: nvvm.mbarrier.init %{{.*}}, %c64_i32
// CHECK: %[[READ:.*]] = arith.select %arg1, %c16_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}} : i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[READ]]
// CHECK: arith.select %arg1, %c8_i32{{[_0-9]*}}, %c0_i32{{[_0-9]*}} : i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
// CHECK: nvvm.cp.async.mbarrier.arrive {{.*}}noinc
// CHECK: nvvm.mbarrier.arrive %
func.func @async(%p: !llvm.ptr, %c: i1) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <2, tensor<8x64xi8>, tensor<8x32xi8>>
  tile.warps role "load" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %at = arith.constant dense<0> : tensor<8xi64, #v>
    %ok = tile.splat %c : i1 -> tensor<8xi1, #v>
    tile.acquire %ch[%c0, %c1] : <2, tensor<8x64xi8>, tensor<8x32xi8>>
    tile.copy_rows %ch[%c0] payload 0 from %p[%at] mask %ok align 16 bulk false : <2, tensor<8x64xi8>, tensor<8x32xi8>>, tensor<8xi64, #v>, tensor<8xi1, #v>
    tile.copy_rows %ch[%c0] payload 1 from %p[%at] mask %ok align 8 bulk false : <2, tensor<8x64xi8>, tensor<8x32xi8>>, tensor<8xi64, #v>, tensor<8xi1, #v>
    tile.commit %ch[%c0] : <2, tensor<8x64xi8>, tensor<8x32xi8>>
  } role "main" warps 1 registers 0 {}
  return
}
