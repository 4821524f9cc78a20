// RUN: %nereid-opt %s --split-input-file --expand-rows | FileCheck %s

// A view of gathered rows is a load of the viewed type: the row's offset and the view's, counted in elements, plus the column. Rows
// start at multiples of what both are aligned to.
// CHECK-LABEL: func.func @view
// CHECK-NOT: tile.gather_rows
// CHECK: %[[BYTE:.*]] = arith.addi %arg1, %cst
// CHECK: %[[FIRST:.*]] = arith.shrsi %[[BYTE]], %cst_0
// CHECK: %[[ROW:.*]] = tile.broadcast %[[FIRST]] dim 0
// CHECK: %[[COLUMN:.*]] = tile.broadcast %{{.*}} dim 1
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[COLUMN]]
// CHECK: %[[OK:.*]] = tile.broadcast %arg2 dim 0
// CHECK: tile.load %arg0[%[[AT]]] mask %[[OK]] {tile.row_align = 8 : i32} : tensor<8x16xi64>, tensor<8x16xbf16>
// One value a row has no column.
// CHECK: arith.addi %arg1, %cst_1
// CHECK: tile.load %arg0[%{{.*}}] mask %arg2 {tile.row_align = 4 : i32} : tensor<8xi64>, tensor<8xf32>
func.func @view(%p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>) -> (tensor<8x16xbf16>, tensor<8xf32>) {
  %g = tile.gather_rows %p[%at] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  %v = tile.view %g at 24 : tensor<8x64xi8> -> tensor<8x16xbf16>
  %s = tile.view %g at 4 : tensor<8x64xi8> -> tensor<8xf32>
  return %v, %s : tensor<8x16xbf16>, tensor<8xf32>
}

// -----

// Bytes of values are stored as the values.
// CHECK-LABEL: func.func @values
// CHECK: tile.store %arg0[%{{.*}}], %arg3 mask %{{.*}} {tile.row_align = 8 : i32} : tensor<8x16xi64>, tensor<8x16xbf16>
func.func @values(%p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>, %v: tensor<8x16xbf16>) {
  %bytes = tile.view %v at 0 : tensor<8x16xbf16> -> tensor<8x32xi8>
  tile.scatter_rows %p[%at], %bytes mask %ok align 8 : tensor<8xi64>, tensor<8x32xi8>, tensor<8xi1>
  return
}

// -----

// Rows that are only copied go as the widest integers that both alignments and the width allow.
// CHECK-LABEL: func.func @copy
// CHECK: %[[WORDS:.*]] = tile.load %arg0{{.*}} {tile.row_align = 16 : i32} : tensor<8x8xi64>, tensor<8x8xi64>
// CHECK: tile.store %arg1{{.*}}, %[[WORDS]] {{.*}} {tile.row_align = 8 : i32}
// CHECK: tile.load %arg0{{.*}} : tensor<8x16xi64>, tensor<8x16xi32>
func.func @copy(%p: !llvm.ptr, %o: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>) {
  %g = tile.gather_rows %p[%at] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  tile.scatter_rows %o[%at], %g mask %ok align 8 : tensor<8xi64>, tensor<8x64xi8>, tensor<8xi1>
  %h = tile.gather_rows %p[%at] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  tile.scatter_rows %o[%at], %h mask %ok align 4 : tensor<8xi64>, tensor<8x64xi8>, tensor<8xi1>
  return
}
