// RUN: %nereid-opt %s | %nereid-opt | FileCheck %s
// RUN: %nereid-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: func.func @memory
func.func @memory(%p: !llvm.ptr, %at: tensor<8xi32>, %rows: tensor<8xi64>, %ok: tensor<8xi1>, %o: i64, %n: i32) -> (tensor<8xf32>, f32, tensor<8x64xi8>, i32) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  // CHECK: tile.load %{{.*}}[%{{.*}}] : tensor<8xi32>, tensor<8xf32>
  %a = tile.load %p[%at] : tensor<8xi32>, tensor<8xf32>
  // CHECK: tile.load %{{.*}}[%{{.*}}] mask %{{.*}} else %{{.*}} : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>, tensor<8xf32>
  %b = tile.load %p[%at] mask %ok else %zero : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>, tensor<8xf32>
  %sum = arith.addf %a, %b : tensor<8xf32>
  // CHECK: tile.load_scalar %{{.*}}[%{{.*}}] : i64, f32
  %s = tile.load_scalar %p[%o] : i64, f32
  // CHECK: tile.gather_rows %{{.*}}[%{{.*}}] mask %{{.*}} align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  %g = tile.gather_rows %p[%rows] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  // Writes and tickets stay even if nothing uses them.
  // CHECK: tile.store %{{.*}}[%{{.*}}], %{{.*}} mask %{{.*}} : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>
  // KEPT: tile.store
  tile.store %p[%at], %sum mask %ok : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>
  // CHECK: tile.scatter_rows %{{.*}}[%{{.*}}], %{{.*}} mask %{{.*}} align 8 : tensor<8xi64>, tensor<8x64xi8>, tensor<8xi1>
  // KEPT: tile.scatter_rows
  tile.scatter_rows %p[%rows], %g mask %ok align 8 : tensor<8xi64>, tensor<8x64xi8>, tensor<8xi1>
  // CHECK: tile.ticket %{{.*}} limit %{{.*}} : i32
  // KEPT: tile.ticket
  %unused = tile.ticket %p limit %n : i32
  return %sum, %s, %g, %n : tensor<8xf32>, f32, tensor<8x64xi8>, i32
}
