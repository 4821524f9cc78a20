// RUN: %nereid-opt %s --expand-rows | FileCheck %s

// A view of gathered rows is a load of the viewed type at the row's offset plus the column; scattered bytes are stored in the widest
// elements that the alignment allows.
// CHECK-LABEL: func.func @rows
func.func @rows(%p: !llvm.ptr {tile.align = 16 : i32}, %at: tensor<8xi64>, %ok: tensor<8xi1>) attributes {tile.kernel} {
  // CHECK-NOT: tile.gather_rows
  // CHECK: tile.load %arg0[{{.*}}] mask {{.*}} : tensor<8x16xi64>, tensor<8x16xbf16>
  %g = tile.gather_rows %p[%at] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  %v = tile.view %g at 32 : tensor<8x64xi8> -> tensor<8x16xbf16>
  %bytes = tile.view %v at 0 : tensor<8x16xbf16> -> tensor<8x32xi8>
  // CHECK-NOT: tile.scatter_rows
  // CHECK: tile.store %arg0
  tile.scatter_rows %p[%at], %bytes mask %ok align 16 : tensor<8xi64>, tensor<8x32xi8>, tensor<8xi1>
  return
}
