// RUN: %nereid-opt %s --verify-diagnostics --lower-kernel

#v = #tile.layout<rank = 2, reg = [0, 1], lane = [0, 2, 0, 4, 1, 0, 2, 0, 4, 0], warp = []>
#b = #tile.layout<rank = 2, reg = [0, 1, 0, 2], lane = [0, 4, 0, 8, 1, 0, 2, 0, 4, 0], warp = []>
func.func @view(%x: f16) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %v = tile.splat %x : f16 -> tensor<8x8xf16, #v>
  // expected-error @+1 {{a view of a tile in registers; store the values, or view gathered rows}}
  %s = tile.view %v at 0 : tensor<8x8xf16, #v> -> tensor<8x16xi8, #b>
  return
}
