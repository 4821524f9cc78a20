// RUN: %nereid-opt %s --split-input-file --lower-kernel | FileCheck %s

// Operands of mma from rows in shared memory: four 8 x 8 matrices an instruction. Rows are 80 bytes apart, each lane points to one.
#wait = #tile.shared<pitch = 80, column_major = false>
#k_rows = #tile.layout<rank = 2, reg = [0, 1, 8, 0, 0, 8], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = []>
// CHECK-LABEL: llvm.func @rows
// CHECK: %[[LANE_ROW:.*]] = arith.andi %{{.*}}, %c7_i32
// CHECK: arith.muli %[[LANE_ROW]], %c80_i32
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-NOT: nvvm.ldmatrix
// CHECK-NOT: !llvm.ptr<3> -> vector
// CHECK: llvm.return
func.func @rows(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<16x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0> : tensor<16x16xi32, #k_rows>
    %b = tile.wait %ch[%c0, %c0] : <1, tensor<16x64xi8>> -> tensor<16x64xi8, #wait>
    %v = tile.view %b at 32 : tensor<16x64xi8, #wait> -> tensor<16x16xf16, #wait>
    %x = tile.convert_layout %v : tensor<16x16xf16, #wait> -> tensor<16x16xf16, #k_rows>
    tile.store %p[%zero], %x : tensor<16x16xi32, #k_rows>, tensor<16x16xf16, #k_rows>
  }
  return
}

// -----

// Along the rows the transposed form; of bytes it gives pairs of columns, whose middle bytes change places.
#wait = #tile.shared<pitch = 80, column_major = false>
#halves = #tile.layout<rank = 2, reg = [1, 0, 8, 0, 0, 8], lane = [2, 0, 4, 0, 0, 1, 0, 2, 0, 4], warp = []>
#bytes = #tile.layout<rank = 2, reg = [1, 0, 0, 1, 8, 0], lane = [2, 0, 4, 0, 0, 2, 0, 4, 0, 8], warp = []>
// CHECK-LABEL: llvm.func @columns
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32
// CHECK: %[[SWAP:.*]] = arith.constant 12576 : i32
// CHECK: nvvm.prmt <default> %[[SWAP]]
func.func @columns(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<16x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0> : tensor<16x16xi32, #halves>
    %b = tile.wait %ch[%c0, %c0] : <1, tensor<16x64xi8>> -> tensor<16x64xi8, #wait>
    %v = tile.view %b at 32 : tensor<16x64xi8, #wait> -> tensor<16x16xf16, #wait>
    %x = tile.convert_layout %v : tensor<16x16xf16, #wait> -> tensor<16x16xf16, #halves>
    tile.store %p[%zero], %x : tensor<16x16xi32, #halves>, tensor<16x16xf16, #halves>
    %w = tile.view %b at 16 : tensor<16x64xi8, #wait> -> tensor<16x16xi8, #wait>
    %zeros = arith.constant dense<0> : tensor<16x16xi32, #bytes>
    %y = tile.convert_layout %w : tensor<16x16xi8, #wait> -> tensor<16x16xi8, #bytes>
    tile.store %p[%zeros], %y : tensor<16x16xi32, #bytes>, tensor<16x16xi8, #bytes>
  }
  return
}

// -----

// Products of bytes want four rows of a column in a word: the same byte of both columns, from two matrices that are 8 rows apart.
#wait = #tile.shared<pitch = 80, column_major = false>
#bytes = #tile.layout<rank = 2, reg = [1, 0, 8, 0, 0, 1], lane = [2, 0, 4, 0, 0, 2, 0, 4, 0, 8], warp = []>
// CHECK-LABEL: llvm.func @pairs
// CHECK: %[[M:.*]] = nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32
// CHECK: %[[NEAR:.*]] = llvm.extractvalue %[[M]][0]
// CHECK: %[[FAR:.*]] = llvm.extractvalue %[[M]][1]
// CHECK: %[[EVEN:.*]] = arith.constant 25632 : i32
// CHECK: nvvm.prmt <default> %[[EVEN]], %[[NEAR]], %[[FAR]]
// CHECK: %[[ODD:.*]] = arith.constant 30001 : i32
// CHECK: nvvm.prmt <default> %[[ODD]], %[[NEAR]], %[[FAR]]
// CHECK-NOT: nvvm.prmt
func.func @pairs(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<16x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %zeros = arith.constant dense<0> : tensor<16x16xi32, #bytes>
    %b = tile.wait %ch[%c0, %c0] : <1, tensor<16x64xi8>> -> tensor<16x64xi8, #wait>
    %w = tile.view %b at 16 : tensor<16x64xi8, #wait> -> tensor<16x16xi8, #wait>
    %y = tile.convert_layout %w : tensor<16x16xi8, #wait> -> tensor<16x16xi8, #bytes>
    tile.store %p[%zeros], %y : tensor<16x16xi32, #bytes>, tensor<16x16xi8, #bytes>
  }
  return
}

// -----

// A transposed tile in shared memory is the same bytes: what was the transposed form is the plain one. A view that does not start at
// a multiple of 16 bytes is read word by word.
#wait = #tile.shared<pitch = 80, column_major = false>
#turned = #tile.shared<pitch = 80, column_major = true>
#k_columns = #tile.layout<rank = 2, reg = [1, 0, 8, 0], lane = [2, 0, 4, 0, 0, 1, 0, 2, 0, 4], warp = []>
// CHECK-LABEL: llvm.func @trans
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 2 : i32
// CHECK-NOT: nvvm.ldmatrix
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> vector<2xf16>
// CHECK-NOT: nvvm.ldmatrix
// CHECK: llvm.return
func.func @trans(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0> : tensor<16x8xi32, #k_columns>
    %b = tile.wait %ch[%c0, %c0] : <1, tensor<8x64xi8>> -> tensor<8x64xi8, #wait>
    %v = tile.view %b at 32 : tensor<8x64xi8, #wait> -> tensor<8x16xf16, #wait>
    %t = tile.trans %v : tensor<8x16xf16, #wait> -> tensor<16x8xf16, #turned>
    %x = tile.convert_layout %t : tensor<16x8xf16, #turned> -> tensor<16x8xf16, #k_columns>
    tile.store %p[%zero], %x : tensor<16x8xi32, #k_columns>, tensor<16x8xf16, #k_columns>
    %o = tile.view %b at 4 : tensor<8x64xi8, #wait> -> tensor<8x16xf16, #wait>
    %u = tile.trans %o : tensor<8x16xf16, #wait> -> tensor<16x8xf16, #turned>
    %y = tile.convert_layout %u : tensor<16x8xf16, #turned> -> tensor<16x8xf16, #k_columns>
    tile.store %p[%zero], %y : tensor<16x8xi32, #k_columns>, tensor<16x8xf16, #k_columns>
  }
  return
}
