// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

func.func @dot_types(%a: tensor<16x32xf16>, %b: tensor<32x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{expects operands of one type of f16, bf16, f8E4M3FN}}
  %d = tile.dot "x" %a, %b, %c : tensor<16x32xf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @dot_accumulator(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf16>) {
  // expected-error @+1 {{expects an f32 accumulator but got 'tensor<16x8xf16>'}}
  %d = tile.dot "x" %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf16>
  return
}

// -----

func.func @dot_shapes(%a: tensor<16x32xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{expects shapes [M, K], [K, N], [M, N]}}
  %d = tile.dot "x" %a, %b, %c : tensor<16x32xf16>, tensor<16x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @reduce_dim(%a: tensor<16x32xf32>) {
  // expected-error @+1 {{expects a dimension of 'tensor<16x32xf32>' but got 2}}
  %d = tile.reduce add %a dim 2 : tensor<16x32xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_or(%a: tensor<16x32xf32>) {
  // expected-error @+1 {{expects integers for `or` but got 'tensor<16x32xf32>'}}
  %d = tile.reduce or %a dim 1 : tensor<16x32xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_result(%a: tensor<16x32xf32>) {
  // expected-error @+1 {{expects a vector of the other dimension of 'tensor<16x32xf32>' but got 'tensor<32xf32>'}}
  %d = tile.reduce add %a dim 1 : tensor<16x32xf32> -> tensor<32xf32>
  return
}

// -----

func.func @reduce_vector(%a: tensor<16xf32>) {
  // expected-error @+1 {{expects a scalar result but got 'tensor<16xf32>'}}
  %d = tile.reduce add %a dim 0 : tensor<16xf32> -> tensor<16xf32>
  return
}
