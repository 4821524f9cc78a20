// RUN: %nereid-opt %s --apply-schedule --assign-layouts --schedule 'warps=4,grid.x=1x1x4,grid.y=1x4x1' | FileCheck %s

// A product split over the reduction dimension is a partial sum: it is joined where something other than a sum wants it, with rows dealt to
// warps, so that the row maximum stays in a warp.
// CHECK-LABEL: func.func @joins
func.func @joins(%p: !llvm.ptr {tile.align = 16 : i32}, %o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf16>
  %b = arith.constant dense<2.0> : tensor<64x32xf16>
  // CHECK: %[[D:.*]] = tile.dot "x"
  %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  // Both stay partial until they have been added.
  // CHECK-NOT: tile.convert_layout
  // CHECK: %[[E:.*]] = tile.dot "x"
  %e = tile.dot "x" %a, %b, %zero : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  // CHECK: %[[S:.*]] = arith.addf %[[D]], %[[E]]
  %s = arith.addf %d, %e : tensor<16x32xf32>
  // CHECK: %[[J:.*]] = tile.convert_layout %[[S]] {tile.sum = 3 : i32} : {{.*}} -> tensor<16x32xf32, #tile.layout<rank = 2, reg = [0, 1, 0, 2], lane = [0, 4, 0, 8, 0, 16, 1, 0, 2, 0], warp = [4, 0, 8, 0]>>
  // CHECK: tile.reduce  max %[[J]] dim 1 : {{.*}} -> tensor<16xf32, #tile.layout<rank = 1, reg = [], lane = [0, 0, 0, 1, 2], warp = [4, 8]>>
  %m = tile.reduce max %s dim 1 : tensor<16x32xf32> -> tensor<16xf32>
  %r = tile.range 0 : tensor<16xi32>
  tile.store %o[%r], %m : tensor<16xi32>, tensor<16xf32>
  return
}

// Accumulators and operands follow from the grid; a free operand is computed in the layout that asks for it, not converted.
// CHECK-LABEL: func.func @operands
func.func @operands(%p: !llvm.ptr {tile.align = 16 : i32}, %o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %row = tile.range 0 : tensor<16xi32>
  %col = tile.range 0 : tensor<16xi32>
  %i = tile.broadcast %row dim 0 : tensor<16xi32> -> tensor<16x16xi32>
  %j = tile.broadcast %col dim 1 : tensor<16xi32> -> tensor<16x16xi32>
  %at = arith.addi %i, %j : tensor<16x16xi32>
  // CHECK: tile.load {{.*}}, tensor<16x16xf16, #tile.layout<rank = 2, reg = [0, 1, 8, 0, 0, 8], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = [0, 0, 0, 0]>>
  %a = tile.load %p[%at] : tensor<16x16xi32>, tensor<16x16xf16>
  %b = arith.constant dense<2.0> : tensor<16x32xf16>
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.dot "y" {{.*}}, tensor<16x32xf32, #tile.layout<rank = 2, reg = [0, 1, 8, 0], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = [0, 8, 0, 16]>>
  %d = tile.dot "y" %a, %b, %zero : tensor<16x16xf16>, tensor<16x32xf16>, tensor<16x32xf32>
  %wide = tile.range 0 : tensor<32xi32>
  %k = tile.broadcast %wide dim 1 : tensor<32xi32> -> tensor<16x32xi32>
  tile.store %o[%k], %d : tensor<16x32xi32>, tensor<16x32xf32>
  return
}

// A sum over iterations stays partial while it is carried, also where each product is multiplied before it is added; it is joined once.
// CHECK-LABEL: func.func @carried
func.func @carried(%p: !llvm.ptr {tile.align = 16 : i32}, %o: !llvm.ptr {tile.align = 4 : i32}, %n: i32, %scale: f32) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf16>
  %b = arith.constant dense<2.0> : tensor<64x32xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK-NOT: tile.convert_layout
  // CHECK: %[[SUMS:.*]]:2 = scf.for
  // CHECK: tile.dot "x"
  // CHECK: tile.dot "x"
  // CHECK: scf.yield
  // CHECK: }
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zero, %v = %zero) -> (tensor<16x32xf32>, tensor<16x32xf32>)  : i32 {
    %u2 = tile.dot "x" %a, %b, %u : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
    %d = tile.dot "x" %a, %b, %zero : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
    %s = tile.splat %scale : f32 -> tensor<16x32xf32>
    %scaled = arith.mulf %d, %s : tensor<16x32xf32>
    %v2 = arith.addf %v, %scaled : tensor<16x32xf32>
    scf.yield %u2, %v2 : tensor<16x32xf32>, tensor<16x32xf32>
  }
  // CHECK: %[[BOTH:.*]] = arith.addf %[[SUMS]]#0, %[[SUMS]]#1
  // CHECK: tile.convert_layout %[[BOTH]] {tile.sum = 3 : i32}
  // CHECK-NOT: tile.convert_layout
  %both = arith.addf %sums#0, %sums#1 : tensor<16x32xf32>
  %row = tile.range 0 : tensor<16xi32>
  %col = tile.range 0 : tensor<32xi32>
  %j = tile.broadcast %row dim 0 : tensor<16xi32> -> tensor<16x32xi32>
  %k = tile.broadcast %col dim 1 : tensor<32xi32> -> tensor<16x32xi32>
  %at = arith.addi %j, %k : tensor<16x32xi32>
  tile.store %o[%at], %both : tensor<16x32xi32>, tensor<16x32xf32>
  return
}

// What a partial sum begins with is kept by one of its copies.
// CHECK-LABEL: func.func @begins
func.func @begins(%p: !llvm.ptr {tile.align = 16 : i32}, %o: !llvm.ptr {tile.align = 4 : i32}) attributes {tile.kernel} {
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %a = arith.constant dense<1.0> : tensor<16x64xf16>
  %b = arith.constant dense<2.0> : tensor<64x32xf16>
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.0{{.*}}> : tensor<16x32xf32
  // CHECK: %[[C:.*]] = tile.convert_layout %[[ONE]] {tile.spread = 3 : i32}
  // CHECK: tile.dot "x" %{{.*}}, %{{.*}}, %[[C]]
  %d = tile.dot "x" %a, %b, %one : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  %row = tile.range 0 : tensor<16xi32>
  %col = tile.range 0 : tensor<32xi32>
  %j = tile.broadcast %row dim 0 : tensor<16xi32> -> tensor<16x32xi32>
  %k = tile.broadcast %col dim 1 : tensor<32xi32> -> tensor<16x32xi32>
  %at = arith.addi %j, %k : tensor<16x32xi32>
  tile.store %o[%at], %d : tensor<16x32xi32>, tensor<16x32xf32>
  return
}
