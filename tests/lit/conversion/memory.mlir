// RUN: %nereid-opt %s --split-input-file --apply-schedule --assign-layouts --lower-kernel --schedule 'warps=1' | FileCheck %s

// Neighbouring elements travel together: sixteen bytes a lane where offsets, mask and alignment allow it.
// CHECK-LABEL: llvm.func @wide
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
func.func @wide(%p: !llvm.ptr {tile.align = 16 : i32}, %o: !llvm.ptr {tile.align = 16 : i32}) attributes {tile.kernel} {
  %r = tile.range 0 : tensor<16xi32>
  %c = tile.range 0 : tensor<16xi32>
  %sixteen = arith.constant dense<16> : tensor<16xi32>
  %start = arith.muli %r, %sixteen : tensor<16xi32>
  %i = tile.broadcast %start dim 0 : tensor<16xi32> -> tensor<16x16xi32>
  %j = tile.broadcast %c dim 1 : tensor<16xi32> -> tensor<16x16xi32>
  %at = arith.addi %i, %j : tensor<16x16xi32>
  %x = tile.load %p[%at] : tensor<16x16xi32>, tensor<16x16xf32>
  tile.store %o[%at], %x : tensor<16x16xi32>, tensor<16x16xf32>
  return
}

// -----

// CHECK-LABEL: llvm.func @unaligned
// CHECK-NOT: !llvm.ptr<1> -> vector
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
func.func @unaligned(%p: !llvm.ptr {tile.align = 4 : i32}, %o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<128xi32>
  %x = tile.load %p[%at] : tensor<128xi32>, tensor<128xf32>
  tile.store %o[%at], %x : tensor<128xi32>, tensor<128xf32>
  return
}

// -----

// A masked element is not read: the load stands under its mask.
// CHECK-LABEL: llvm.func @masked
// CHECK: scf.if
// CHECK: llvm.load {{.*}} : !llvm.ptr<1>
// CHECK: else
func.func @masked(%p: !llvm.ptr {tile.align = 4 : i32}, %n: i32) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<32xi32>
  %end = tile.splat %n : i32 -> tensor<32xi32>
  %ok = arith.cmpi slt, %at, %end : tensor<32xi32>
  %x = tile.load %p[%at] mask %ok : tensor<32xi32>, tensor<32xf32>, tensor<32xi1>
  tile.store %p[%at], %x mask %ok : tensor<32xi32>, tensor<32xf32>, tensor<32xi1>
  return
}

// -----

// All stores of the block come before the number is taken, and every thread gets it.
// CHECK-LABEL: llvm.func @ticket
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[LAST:.*]] = arith.addi %arg1, %c-1_i32
// CHECK: %[[OLD:.*]] = llvm.atomicrmw uinc_wrap %{{.*}}, %[[LAST]] syncscope("device") acq_rel
// CHECK: llvm.store %[[OLD]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i32
func.func @ticket(%p: !llvm.ptr {tile.align = 4 : i32}, %n: i32) attributes {tile.kernel} {
  %t = tile.ticket %p limit %n : i32
  %at = tile.range 0 : tensor<32xi32>
  %x = tile.splat %t : i32 -> tensor<32xi32>
  tile.store %p[%at], %x : tensor<32xi32>, tensor<32xi32>
  return
}

// -----

// Where the mask is false the element is the other value; copies do not store.
// CHECK-LABEL: llvm.func @else
// CHECK: scf.if {{.*}} -> (f32)
// CHECK: else
// CHECK-NEXT: scf.yield %arg2
// CHECK: arith.andi %{{.*}}, %c16_i32
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<1>
func.func @else(%p: !llvm.ptr, %n: i32, %x: f32) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<16xi32>
  %end = tile.splat %n : i32 -> tensor<16xi32>
  %o = tile.splat %x : f32 -> tensor<16xf32>
  %ok = arith.cmpi slt, %at, %end : tensor<16xi32>
  %y = tile.load %p[%at] mask %ok else %o : tensor<16xi32>, tensor<16xf32>, tensor<16xi1>, tensor<16xf32>
  tile.store %p[%at], %y : tensor<16xi32>, tensor<16xf32>
  return
}

// -----

// One element for all: its offset counts elements.
// CHECK-LABEL: llvm.func @scalar
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%arg1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
// CHECK: llvm.load %[[AT]] {alignment = 2 : i64} : !llvm.ptr<1> -> f16
func.func @scalar(%p: !llvm.ptr, %o: i64) attributes {tile.kernel} {
  %x = tile.load_scalar %p[%o] : i64, f16
  %at = tile.range 0 : tensor<32xi32>
  %v = tile.splat %x : f16 -> tensor<32xf16>
  tile.store %p[%at], %v : tensor<32xi32>, tensor<32xf16>
  return
}

// -----

// Booleans are bytes in memory.
// CHECK-LABEL: llvm.func @booleans
// CHECK: %[[BYTE:.*]] = llvm.load {{.*}} : !llvm.ptr<1> -> i8
// CHECK: arith.trunci %[[BYTE]] : i8 to i1
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: llvm.store {{.*}} : i8, !llvm.ptr<1>
func.func @booleans(%p: !llvm.ptr) attributes {tile.kernel} {
  %at = tile.range 0 : tensor<32xi32>
  %x = tile.load %p[%at] : tensor<32xi32>, tensor<32xi1>
  tile.store %p[%at], %x : tensor<32xi32>, tensor<32xi1>
  return
}
