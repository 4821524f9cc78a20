// RUN: %nereid-opt %s | %nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @roles
func.func @roles(%p: !llvm.ptr) {
  // CHECK: tile.channel from "load" to ["main"] : <2, tensor<8x64xi8>, tensor<8xf32>>
  %ch = tile.channel from "load" to ["main"] : <2, tensor<8x64xi8>, tensor<8xf32>>
  // CHECK: tile.warps
  tile.warps
    // CHECK: role "load" warps 2 groups 2 registers 40
    role "load" warps 2 groups 2 registers 40 {
      %slot = arith.constant 0 : i32
      %phase = arith.constant 1 : i32
      %at = arith.constant dense<0> : tensor<8xi64>
      %ok = arith.constant dense<true> : tensor<8xi1>
      %v = arith.constant dense<1.0> : tensor<8xf32>
      // CHECK: tile.acquire %{{.*}}[%{{.*}}, %{{.*}}] : <2, tensor<8x64xi8>, tensor<8xf32>>
      tile.acquire %ch[%slot, %phase] : <2, tensor<8x64xi8>, tensor<8xf32>>
      // CHECK: tile.copy_rows %{{.*}}[%{{.*}}] payload 0 from %{{.*}}[%{{.*}}] mask %{{.*}} align 16 bulk true
      tile.copy_rows %ch[%slot] payload 0 from %p[%at] mask %ok align 16 bulk true : <2, tensor<8x64xi8>, tensor<8xf32>>, tensor<8xi64>, tensor<8xi1>
      // CHECK: tile.put %{{.*}}[%{{.*}}] payload 1, %{{.*}} : <2, tensor<8x64xi8>, tensor<8xf32>>, tensor<8xf32>
      tile.put %ch[%slot] payload 1, %v : <2, tensor<8x64xi8>, tensor<8xf32>>, tensor<8xf32>
      // CHECK: tile.commit %{{.*}}[%{{.*}}]
      tile.commit %ch[%slot] : <2, tensor<8x64xi8>, tensor<8xf32>>
    }
    // CHECK: role "main" warps 4 registers 0
    role "main" warps 4 registers 0 {
      %slot = arith.constant 0 : i32
      %phase = arith.constant 0 : i32
      // CHECK: tile.wait %{{.*}}[%{{.*}}, %{{.*}}] : <2, tensor<8x64xi8>, tensor<8xf32>> -> tensor<8x64xi8>, tensor<8xf32>
      %rows, %v = tile.wait %ch[%slot, %phase] : <2, tensor<8x64xi8>, tensor<8xf32>> -> tensor<8x64xi8>, tensor<8xf32>
      // CHECK: tile.release %{{.*}}[%{{.*}}]
      tile.release %ch[%slot] : <2, tensor<8x64xi8>, tensor<8xf32>>
    }
  return
}
