// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

func.func @load_shape(%p: !llvm.ptr, %at: tensor<8xi32>) {
  // expected-error @+1 {{expects a result of the shape of the offsets but got 'tensor<4xf32>' and 'tensor<8xi32>'}}
  %a = tile.load %p[%at] : tensor<8xi32>, tensor<4xf32>
  return
}

// -----

func.func @load_mask(%p: !llvm.ptr, %at: tensor<8xi32>, %ok: tensor<4xi1>) {
  // expected-error @+1 {{expects a mask of the shape of the offsets}}
  %a = tile.load %p[%at] mask %ok : tensor<8xi32>, tensor<8xf32>, tensor<4xi1>
  return
}

// -----

func.func @load_other(%p: !llvm.ptr, %at: tensor<8xi32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{expects a mask where `else` is given}}
  %a = "tile.load"(%p, %at, %o) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (!llvm.ptr, tensor<8xi32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @load_other_type(%p: !llvm.ptr, %at: tensor<8xi32>, %ok: tensor<8xi1>, %o: tensor<8xf16>) {
  // expected-error @+1 {{expects `else` of the result's type but got 'tensor<8xf16>'}}
  %a = tile.load %p[%at] mask %ok else %o : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>, tensor<8xf16>
  return
}

// -----

func.func @store_shape(%p: !llvm.ptr, %at: tensor<8xi32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expects a value of the shape of the offsets}}
  tile.store %p[%at], %v : tensor<8xi32>, tensor<4xf32>
  return
}

// -----

func.func @gather_count(%p: !llvm.ptr, %rows: tensor<4xi64>, %ok: tensor<4xi1>) {
  // expected-error @+1 {{expects one offset for each row of 'tensor<8x64xi8>' but got 'tensor<4xi64>'}}
  %g = tile.gather_rows %p[%rows] mask %ok align 16 : tensor<4xi64>, tensor<4xi1>, tensor<8x64xi8>
  return
}

// -----

func.func @gather_align(%p: !llvm.ptr, %rows: tensor<8xi64>, %ok: tensor<8xi1>) {
  // expected-error @+1 {{expects an alignment of 1, 2, 4, 8 or 16 bytes but got 12}}
  %g = tile.gather_rows %p[%rows] mask %ok align 12 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  return
}

// -----

func.func @scatter_mask(%p: !llvm.ptr, %rows: tensor<8xi64>, %ok: tensor<4xi1>, %b: tensor<8x64xi8>) {
  // expected-error @+1 {{expects a mask of the shape of the offsets}}
  tile.scatter_rows %p[%rows], %b mask %ok align 8 : tensor<8xi64>, tensor<8x64xi8>, tensor<4xi1>
  return
}

// -----

func.func @load_scalar_offset(%p: !llvm.ptr, %o: f32) {
  // expected-error @+1 {{operand #1 must be 32-bit signless integer or 64-bit signless integer, but got 'f32'}}
  %s = "tile.load_scalar"(%p, %o) : (!llvm.ptr, f32) -> f32
  return
}

// -----

func.func @ticket_limit(%p: !llvm.ptr, %n: i64) {
  // expected-error @+1 {{operand #1 must be 32-bit signless integer, but got 'i64'}}
  %t = "tile.ticket"(%p, %n) : (!llvm.ptr, i64) -> i32
  return
}

// -----

func.func @store_mask(%p: !llvm.ptr, %at: tensor<8xi32>, %v: tensor<8xf32>, %ok: tensor<4xi1>) {
  // expected-error @+1 {{expects a mask of the shape of the offsets}}
  tile.store %p[%at], %v mask %ok : tensor<8xi32>, tensor<8xf32>, tensor<4xi1>
  return
}

// -----

func.func @load_other_shape(%p: !llvm.ptr, %at: tensor<8xi32>, %ok: tensor<8xi1>, %o: tensor<4xf32>) {
  // expected-error @+1 {{expects `else` of the shape of the offsets}}
  %a = tile.load %p[%at] mask %ok else %o : tensor<8xi32>, tensor<8xf32>, tensor<8xi1>, tensor<4xf32>
  return
}

// -----

func.func @load_scalar_type(%p: !llvm.ptr, %o: i32) {
  // expected-error @+1 {{result #0 must be integer or floating-point, but got 'tensor<4xf32>'}}
  %s = tile.load_scalar %p[%o] : i32, tensor<4xf32>
  return
}

// -----

func.func @scatter_count(%p: !llvm.ptr, %rows: tensor<4xi64>, %ok: tensor<4xi1>, %b: tensor<8x64xi8>) {
  // expected-error @+1 {{expects one offset for each row of 'tensor<8x64xi8>' but got 'tensor<4xi64>'}}
  tile.scatter_rows %p[%rows], %b mask %ok align 8 : tensor<4xi64>, tensor<8x64xi8>, tensor<4xi1>
  return
}

// -----

func.func @ticket_of_nobody(%p: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects a limit of at least 1 but got 0}}
  %t = tile.ticket %p limit %zero : i32
  return
}
