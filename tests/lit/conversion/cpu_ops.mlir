// RUN: %nereid-opt %s --split-input-file --tile-to-host | FileCheck %s

// Rows are copied whole; a masked one is zero. Views read them in place. A reduction is a tree over a row.
// CHECK-LABEL: func.func @rows
// CHECK: scf.if
// CHECK: "llvm.intr.memcpy.inline"{{.*}}len = 64 : i64
// CHECK: else
// CHECK: "llvm.intr.memset.inline"(%{{.*}}, %c0_i8){{.*}}len = 64 : i64
// CHECK: vector.load {{.*}} : memref<8x64xi8>, vector<32xi8>
// CHECK: vector.bitcast {{.*}} : vector<32xi8> to vector<16xbf16>
// CHECK-COUNT-15: arith.maxnumf
// CHECK: scf.if
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr
// CHECK: scf.if
// CHECK: "llvm.intr.memcpy.inline"{{.*}}len = 64 : i64
func.func @rows(%p: !llvm.ptr, %o: !llvm.ptr, %at: i64) attributes {tile.kernel} {
  %offsets = tile.splat %at : i64 -> tensor<8xi64>
  %lane = tile.range 0 : tensor<8xi32>
  %four = arith.constant dense<4> : tensor<8xi32>
  %ok = arith.cmpi slt, %lane, %four : tensor<8xi32>
  %rows = tile.gather_rows %p[%offsets] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  %k = tile.view %rows at 32 : tensor<8x64xi8> -> tensor<8x16xbf16>
  %w = arith.extf %k : tensor<8x16xbf16> to tensor<8x16xf32>
  %m = tile.reduce max %w dim 1 : tensor<8x16xf32> -> tensor<8xf32>
  tile.store %o[%lane], %m mask %ok : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>
  tile.scatter_rows %o[%offsets], %rows mask %ok align 16 : tensor<8xi64>, tensor<8x64xi8>, tensor<8xi1>
  return
}

// -----

// A product reads its operands in f32, four rows for each vector of b; the transposition is in how b is read.
// CHECK-LABEL: func.func @dot
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK: vector.load {{.*}} : memref<16x4xf32>, vector<4xf32>
// CHECK-COUNT-4: llvm.intr.fmuladd
// CHECK: scf.yield
func.func @dot(%p: !llvm.ptr, %o: !llvm.ptr) attributes {tile.kernel} {
  %i = arith.constant dense<0> : tensor<4x16xi32>
  %a = tile.load %p[%i] : tensor<4x16xi32>, tensor<4x16xf16>
  %t = tile.trans %a : tensor<4x16xf16> -> tensor<16x4xf16>
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %d = tile.dot "x" %a, %t, %z : tensor<4x16xf16>, tensor<16x4xf16>, tensor<4x4xf32>
  %j = arith.constant dense<0> : tensor<4x4xi32>
  tile.store %o[%j], %d : tensor<4x4xi32>, tensor<4x4xf32>
  return
}

// -----

// The instance's index, one element, a number of a counter that wraps below the limit; a staged value is the value.
// CHECK-LABEL: func.func @scalars
// CHECK: %[[BLOCK:.*]] = arith.trunci %arg1 : i64 to i32
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c4_i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]]
// CHECK: %[[LIMIT:.*]] = llvm.load %[[AT]] {{.*}} : !llvm.ptr -> i32
// CHECK: %[[LAST:.*]] = arith.subi %[[LIMIT]], %c1_i32
// CHECK: %[[T:.*]] = llvm.atomicrmw uinc_wrap %{{.*}}, %[[LAST]] acq_rel
// CHECK-NOT: tile.
// CHECK: vector.broadcast %[[T]] : i32 to vector<8xi32>
func.func @scalars(%p: !llvm.ptr, %o: !llvm.ptr) attributes {tile.kernel} {
  %b = tile.program_id : i32
  %n = tile.load_scalar %p[%b] : i32, i32
  %t = tile.ticket %o limit %n : i32
  %at = tile.range 0 : tensor<8xi32>
  %v = tile.splat %t : i32 -> tensor<8xi32>
  %s = tile.staged %v : tensor<8xi32>
  tile.store %o[%at], %s : tensor<8xi32>, tensor<8xi32>
  return
}

// -----

// A masked element is not read and has the other value; a range adds its start; a vector is spread over the rows or the columns.
// CHECK-LABEL: func.func @elements
// CHECK: %[[FIVE:.*]] = arith.constant 5.000000e+00 : f32
// CHECK: scf.if
// CHECK: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK: else
// CHECK-NEXT: scf.yield %[[FIVE]]
// CHECK: arith.addi %{{.*}}, %c3_i32
// CHECK: llvm.store
func.func @elements(%p: !llvm.ptr, %n: i32) attributes {tile.kernel} {
  %five = arith.constant dense<5.0> : tensor<4x8xf32>
  %i = tile.range 3 : tensor<4xi32>
  %end = tile.splat %n : i32 -> tensor<4x8xi32>
  %at = tile.broadcast %i dim 0 : tensor<4xi32> -> tensor<4x8xi32>
  %ok = arith.cmpi slt, %at, %end : tensor<4x8xi32>
  %x = tile.load %p[%at] mask %ok else %five : tensor<4x8xi32>, tensor<4x8xf32>, tensor<4x8xi1>, tensor<4x8xf32>
  tile.store %p[%at], %x : tensor<4x8xi32>, tensor<4x8xf32>
  return
}

// -----

// All values that a loop yields are complete before the first carried buffer changes.
// CHECK-LABEL: func.func @swaps
// CHECK: scf.for {{.*}} : i32 {
// CHECK: memref.copy %[[A:.*]], %[[OLD_A:.*]] :
// CHECK: memref.copy %[[B:.*]], %[[OLD_B:.*]] :
// CHECK: memref.copy %[[OLD_A]], %[[B]]
// CHECK: memref.copy %[[OLD_B]], %[[A]]
func.func @swaps(%p: !llvm.ptr, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.range 0 : tensor<8xi32>
  %x = tile.load %p[%i] : tensor<8xi32>, tensor<8xi32>
  %y = tile.load %p[%x] : tensor<8xi32>, tensor<8xi32>
  %a, %b = scf.for %k = %c0 to %n step %c1 iter_args(%s = %x, %t = %y) -> (tensor<8xi32>, tensor<8xi32>) : i32 {
    scf.yield %t, %s : tensor<8xi32>, tensor<8xi32>
  }
  tile.store %p[%a], %b : tensor<8xi32>, tensor<8xi32>
  return
}
