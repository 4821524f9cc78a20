// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

func.func @range_of_a_matrix() {
  // expected-error @+1 {{expects a vector result but got 'tensor<4x4xi32>'}}
  %r = tile.range 0 : tensor<4x4xi32>
  return
}

// -----

func.func @range_of_floats() {
  // expected-error @+1 {{must be statically shaped tensor of 32-bit signless integer values}}
  %r = tile.range 0 : tensor<4xf32>
  return
}
