// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --lower-kernel

#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @wide(%x: i64) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %v = tile.splat %x : i64 -> tensor<32xi64, #v>
  // expected-error @+1 {{a reduction of 64-bit elements over lanes; reduce 32-bit values}}
  %s = tile.reduce add %v dim 0 : tensor<32xi64, #v> -> i64
  return
}

// -----

#m = #tile.layout<rank = 2, reg = [0, 1], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = []>
#r = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 0, 0, 0], warp = []>
func.func @slice(%x: f32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %v = tile.splat %x : f32 -> tensor<8x8xf32, #m>
  // expected-error @+1 {{a reduction's result layout is no slice of its operand's; report this program}}
  %s = tile.reduce add %v dim 1 : tensor<8x8xf32, #m> -> tensor<8xf32, #r>
  return
}
