// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

func.func @no_slot() {
  // expected-error @+1 {{expects at least one slot but got 0}}
  %ch = tile.channel from "load" to ["main"] : <0, tensor<8xf32>>
  return
}

// -----

func.func @no_reader() {
  // expected-error @+1 {{expects a reader}}
  %ch = tile.channel from "load" to [] : <1, tensor<8xf32>>
  return
}

// -----

func.func @own_reader() {
  // expected-error @+1 {{expects readers other than the writer but got "load"}}
  %ch = tile.channel from "load" to ["load"] : <1, tensor<8xf32>>
  return
}

// -----

func.func @put_place(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32, %v: tensor<8xf32>) {
  // expected-error @+1 {{expects a payload below 1 but got 1}}
  tile.put %ch[%i] payload 1, %v : <1, tensor<8xf32>>, tensor<8xf32>
  return
}

// -----

func.func @put_type(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32, %v: tensor<4xf32>) {
  // expected-error @+1 {{expects payload 0, 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  tile.put %ch[%i] payload 0, %v : <1, tensor<8xf32>>, tensor<4xf32>
  return
}

// -----

func.func @copy_to_values(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32, %p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>) {
  // expected-error @+1 {{expects payload 0 to be rows of bytes but got 'tensor<8xf32>'}}
  tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 16 bulk true : <1, tensor<8xf32>>, tensor<8xi64>, tensor<8xi1>
  return
}

// -----

func.func @copy_rows_count(%ch: !tile.channel<1, tensor<8x64xi8>>, %i: i32, %p: !llvm.ptr, %at: tensor<4xi64>, %ok: tensor<4xi1>) {
  // expected-error @+1 {{expects one offset for each row of 'tensor<8x64xi8>' but got 'tensor<4xi64>'}}
  tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 16 bulk true : <1, tensor<8x64xi8>>, tensor<4xi64>, tensor<4xi1>
  return
}

// -----

func.func @wait_count(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{expects 1 results but got 2}}
  %a, %b = tile.wait %ch[%i, %i] : <1, tensor<8xf32>> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @wait_type(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{expects a result 'tensor<8xf32>' but got 'tensor<8xf16>'}}
  %a = tile.wait %ch[%i, %i] : <1, tensor<8xf32>> -> tensor<8xf16>
  return
}

// -----

func.func @three_warps() {
  // expected-error @+1 {{expects powers of two of warps but got 3}}
  tile.warps role "load" warps 3 registers 0 {}
  return
}

// -----

func.func @groups() {
  // expected-error @+1 {{expects groups of equal size but got 3 of 4 warps}}
  tile.warps role "load" warps 4 groups 3 registers 0 {}
  return
}

// -----

func.func @convert_without_layout(%a: tensor<8xf32>) {
  // expected-error @+1 {{expects a register layout on the result but got 'tensor<8xf32>'}}
  %b = tile.convert_layout %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @convert_type(%a: tensor<8xf32>) {
  // expected-error @+1 {{expects the same tile on both sides}}
  %b = tile.convert_layout %a : tensor<8xf32> -> tensor<8xf16>
  return
}
