// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

func.func @splat(%x: f32) {
  // expected-error @+1 {{expects elements of type 'f32' but got 'tensor<4xf16>'}}
  %s = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @broadcast_of_a_matrix(%v: tensor<4x4xf32>) {
  // expected-error @+1 {{expects a vector and a matrix}}
  %b = tile.broadcast %v dim 0 : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_dim(%v: tensor<4xf32>) {
  // expected-error @+1 {{expects dim 0 or 1 but got 2}}
  %b = tile.broadcast %v dim 2 : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_size(%v: tensor<4xf32>) {
  // expected-error @+1 {{expects dimension 1 and element type of the result to be those of 'tensor<4xf32>'}}
  %b = tile.broadcast %v dim 1 : tensor<4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @trans(%m: tensor<4x8xf32>) {
  // expected-error @+1 {{expects the transposed shape of 'tensor<4x8xf32>' but got 'tensor<4x8xf32>'}}
  %t = tile.trans %m : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @view_rows(%m: tensor<4x8xi8>) {
  // expected-error @+1 {{expects as many rows as 'tensor<4x8xi8>' but got 'tensor<8x4xi8>'}}
  %t = tile.view %m at 0 : tensor<4x8xi8> -> tensor<8x4xi8>
  return
}

// -----

func.func @view_outside(%m: tensor<4x8xi8>) {
  // expected-error @+1 {{expects bytes inside the row of 8 but got [4, 12)}}
  %t = tile.view %m at 4 : tensor<4x8xi8> -> tensor<4x4xf16>
  return
}

// -----

func.func @view_odd(%m: tensor<4x8xi8>) {
  // expected-error @+1 {{expects a byte offset that is a multiple of the element's size but got 1}}
  %t = tile.view %m at 1 : tensor<4x8xi8> -> tensor<4x2xf16>
  return
}

// -----

func.func @view_of_values(%m: tensor<4x8xf16>) {
  // expected-error @+1 {{expects bytes on one side, and whole rows from values to bytes}}
  %t = tile.view %m at 0 : tensor<4x8xf16> -> tensor<4x8xbf16>
  return
}

// -----

func.func @staged(%m: tensor<4x8xf16>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %t = "tile.staged"(%m) : (tensor<4x8xf16>) -> tensor<8x4xf16>
  return
}
