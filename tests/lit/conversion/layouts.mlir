// RUN: %nereid-opt %s --split-input-file --lower-kernel | FileCheck %s

// Registers that only change places move by name.
#v = #tile.layout<rank = 1, reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = [0]>
#w = #tile.layout<rank = 1, reg = [2, 1], lane = [4, 8, 16, 32, 64], warp = [0]>
// CHECK-LABEL: llvm.func @reordered
// CHECK: %[[SECOND:.*]] = arith.addi %{{.*}}, %c1_i32
// CHECK: %[[THIRD:.*]] = arith.addi %{{.*}}, %c2_i32
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.store %[[THIRD]], %{{.*}} : i32, !llvm.ptr<1>
// CHECK: llvm.store %[[SECOND]], %{{.*}} : i32, !llvm.ptr<1>
func.func @reordered(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 2 : i32, tile.max_registers = 255 : i32} {
  %zero = arith.constant dense<0> : tensor<128xi32, #w>
  %i = tile.range 0 : tensor<128xi32, #v>
  %j = tile.convert_layout %i : tensor<128xi32, #v> -> tensor<128xi32, #w>
  tile.store %p[%zero], %j : tensor<128xi32, #w>, tensor<128xi32, #w>
  return
}

// -----

// Other lanes: through shared memory. The first copy writes, the block's warps wait for each other, all read. Nothing waits before
// the write, because nobody has read there.
#v = #tile.layout<rank = 1, reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = [0]>
#x = #tile.layout<rank = 1, reg = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
// CHECK-LABEL: llvm.func @exchanged
// CHECK-NOT: nvvm.barrier
// CHECK: %[[BIT:.*]] = arith.andi %{{.*}}, %c1_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BIT]], %c0_i32
// CHECK: scf.if %[[FIRST]]
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c64_i32
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> i32
func.func @exchanged(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 2 : i32, tile.max_registers = 255 : i32} {
  %zero = arith.constant dense<0> : tensor<128xi32, #x>
  %i = tile.range 0 : tensor<128xi32, #v>
  %j = tile.convert_layout %i : tensor<128xi32, #v> -> tensor<128xi32, #x>
  tile.store %p[%zero], %j : tensor<128xi32, #x>, tensor<128xi32, #x>
  return
}

// -----

// Exchanges whose values are ready share one barrier.
#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8, 16], warp = [32]>
#x = #tile.layout<rank = 1, reg = [], lane = [2, 4, 8, 16, 32], warp = [1]>
// CHECK-LABEL: llvm.func @together
// CHECK-NOT: nvvm.barrier
// CHECK-COUNT-2: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
func.func @together(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 2 : i32, tile.max_registers = 255 : i32} {
  %i = tile.range 0 : tensor<64xi32, #v>
  %k = tile.range 7 : tensor<64xi32, #v>
  %j = tile.convert_layout %i : tensor<64xi32, #v> -> tensor<64xi32, #x>
  %l = tile.convert_layout %k : tensor<64xi32, #v> -> tensor<64xi32, #x>
  tile.store %p[%j], %l : tensor<64xi32, #x>, tensor<64xi32, #x>
  return
}

// -----

// A sum adds what the copies hold, in the order of their warps.
#a = #tile.layout<rank = 2, reg = [], lane = [0, 1, 0, 2, 0, 4, 0, 8, 0, 16], warp = [0, 0, 0, 0]>
#b = #tile.layout<rank = 2, reg = [], lane = [0, 1, 0, 2, 0, 4, 0, 8, 0, 16], warp = [0, 0, 0, 0]>
// CHECK-LABEL: llvm.func @summed
// CHECK: nvvm.barrier id
// CHECK: %[[A:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[B:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[C:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[D:.*]] = llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[CD:.*]] = arith.addf %[[C]], %[[D]]
// CHECK: arith.addf %[[AB]], %[[CD]]
func.func @summed(%p: !llvm.ptr, %x: f32) attributes {tile.kernel, tile.warps = 4 : i32, tile.max_registers = 255 : i32} {
  %zero = arith.constant dense<0> : tensor<1x32xi32, #b>
  %v = tile.splat %x : f32 -> tensor<1x32xf32, #a>
  %s = tile.convert_layout %v {tile.sum = 3 : i32} : tensor<1x32xf32, #a> -> tensor<1x32xf32, #b>
  tile.store %p[%zero], %s : tensor<1x32xi32, #b>, tensor<1x32xf32, #b>
  return
}

// -----

// A whole value as addends: the first copy keeps it, the others are zero.
#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8, 16], warp = [0]>
// CHECK-LABEL: llvm.func @spread
// CHECK: %[[BIT:.*]] = arith.andi %{{.*}}, %c1_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BIT]], %c0_i32
// CHECK: arith.select %[[FIRST]], %arg1, %cst
func.func @spread(%p: !llvm.ptr, %x: f32) attributes {tile.kernel, tile.warps = 2 : i32, tile.max_registers = 255 : i32} {
  %i = tile.range 0 : tensor<32xi32, #v>
  %s = tile.splat %x : f32 -> tensor<32xf32, #v>
  %j = tile.convert_layout %s {tile.spread = 1 : i32} : tensor<32xf32, #v> -> tensor<32xf32, #v>
  tile.store %p[%i], %j : tensor<32xi32, #v>, tensor<32xf32, #v>
  return
}
