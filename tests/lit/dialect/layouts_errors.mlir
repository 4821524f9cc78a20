// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a layout has 5 lane bases and each basis has 1 numbers}}
#four = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8], warp = []>

// -----

// expected-error @+1 {{a layout has rank 1 or 2 but got 3}}
#cube = #tile.layout<rank = 3, reg = [], lane = [], warp = []>

// -----

// expected-error @+1 {{a basis is zero or a power of two in one dimension but got [3]}}
#three = #tile.layout<rank = 1, reg = [3], lane = [1, 0, 0, 0, 0], warp = []>

// -----

// expected-error @+1 {{a basis is zero or a power of two in one dimension but got [1, 1]}}
#diagonal = #tile.layout<rank = 2, reg = [1, 1], lane = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], warp = []>

// -----

// expected-error @+1 {{two bits of a layout have the same basis [2]}}
#twice = #tile.layout<rank = 1, reg = [2], lane = [1, 2, 0, 0, 0], warp = []>

// -----

// expected-error @+1 {{addends lie in warps that hold copies, but warp bit 0 of partial = 1 has no zero basis}}
#addends = #tile.layout<rank = 1, reg = [], lane = [1, 2, 0, 0, 0], warp = [4], partial = 1>

// -----

// expected-error @+1 {{expects a layout of the tile's shape [16] but got one of [8]}}
func.func @covers(%a: tensor<16xf32, #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = []>>) {
  return
}

// -----

// expected-error @+1 {{expects a pitch of at least a row's 64 bytes but got 48}}
func.func @pitch(%a: tensor<8x16xf32, #tile.shared<pitch = 48, column_major = false>>) {
  return
}

// -----

// expected-error @+1 {{expects a pitch of at least a row's 32 bytes but got 16}}
func.func @column_pitch(%a: tensor<8x16xf32, #tile.shared<pitch = 16, column_major = true>>) {
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

// -----

#l = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = [0]>
func.func @convert_from_nowhere(%a: tensor<8xf32>) {
  // expected-error @+1 {{expects an operand in registers or shared memory but got 'tensor<8xf32>'}}
  %b = tile.convert_layout %a : tensor<8xf32> -> tensor<8xf32, #l>
  return
}

// -----

#l = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = [0]>
func.func @sum_of_integers(%a: tensor<8xi32, #l>) {
  // expected-error @+1 {{expects floats for tile.sum}}
  %b = tile.convert_layout %a {tile.sum = 1 : i32} : tensor<8xi32, #l> -> tensor<8xi32, #l>
  return
}

// -----

#l = #tile.layout<rank = 1, reg = [], lane = [1, 2, 0, 0, 0], warp = [4]>
func.func @sum_without_copies(%a: tensor<8xf32, #l>) {
  // expected-error @+1 {{tile.sum: addends lie in warps that hold copies, but warp bit 0 of partial = 1 has no zero basis}}
  %b = tile.convert_layout %a {tile.sum = 1 : i32} : tensor<8xf32, #l> -> tensor<8xf32, #l>
  return
}

// -----

#l = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = [0]>
#r = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 0, 0, 0], warp = [0]>
func.func @spread_moves(%a: tensor<8xf32, #l>) {
  // expected-error @+1 {{expects one layout for tile.spread}}
  %b = tile.convert_layout %a {tile.spread = 1 : i32} : tensor<8xf32, #l> -> tensor<8xf32, #r>
  return
}

// -----

#l = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = [0]>
func.func @both(%a: tensor<8xf32, #l>) {
  // expected-error @+1 {{expects tile.sum or tile.spread but got both}}
  %b = tile.convert_layout %a {tile.spread = 1 : i32, tile.sum = 1 : i32} : tensor<8xf32, #l> -> tensor<8xf32, #l>
  return
}
