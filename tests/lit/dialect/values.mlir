// RUN: %nereid-opt %s | %nereid-opt | FileCheck %s

// CHECK-LABEL: func.func @values
func.func @values() {
  // CHECK: tile.program_id : i32
  %p = tile.program_id : i32
  // CHECK: tile.range 4 : tensor<32xi32>
  %r = tile.range 4 : tensor<32xi32>
  tile.warps
    role "load" warps 2 groups 2 registers 0 {
      // CHECK: tile.group_id : i32
      %g = tile.group_id : i32
    }
  return
}
