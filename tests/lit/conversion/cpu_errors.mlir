// RUN: not %nereid-opt %s --tile-to-host 2>&1 | FileCheck %s
// CHECK: error:

// Channels belong to schedules of a GPU; the CPU takes the program as recorded.
func.func @kernel(%p: !llvm.ptr {tile.align = 16 : i32}) attributes {tile.kernel} {
  %ch = tile.channel from "load" to ["main"] : <2, tensor<8xf32>>
  %i = arith.constant 0 : i32
  tile.acquire %ch[%i, %i] : <2, tensor<8xf32>>
  return
}
