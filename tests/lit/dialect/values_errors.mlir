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

// -----

func.func @program_id_type() {
  // expected-error @+1 {{result #0 must be 32-bit signless integer, but got 'i64'}}
  %p = "tile.program_id"() : () -> i64
  return
}

// -----

func.func @group_id_without_a_role() {
  // expected-error @+1 {{expects to lie in a role of tile.warps}}
  %g = tile.group_id : i32
  return
}

// -----

// expected-error @+1 {{expects tile.kernel on a function with a body of one block and no results}}
func.func private @kernel_without_a_body() attributes {tile.kernel}

// -----

// expected-error @+1 {{expects tile.kernel on a function with a body of one block and no results}}
func.func @kernel_with_a_result(%x: f32) -> f32 attributes {tile.kernel} {
  return %x : f32
}
