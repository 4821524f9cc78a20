// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --lower-kernel --target sm_120a

func.func @no_schedule() attributes {tile.kernel} {
  return
}
// expected-error @-3 {{the kernel has no schedule; run --apply-schedule first}}

// -----

func.func @no_layout() attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  // expected-error @+1 {{a tile has no layout; run --assign-layouts first}}
  %i = tile.range 0 : tensor<64xi32>
  return
}

// -----

#v = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = []>
func.func @staged(%x: f32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %v = tile.splat %x : f32 -> tensor<64xf32, #v>
  // expected-error @+1 {{no lowering for tile.staged}}
  %s = tile.staged %v : tensor<64xf32, #v>
  return
}

// -----

// expected-error @+1 {{the kernel needs 104480 bytes of shared memory, sm_120a allows 101376 (schedule); use fewer stages or smaller tiles}}
module {
  func.func @too_large() attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
    %ch = tile.channel from "load" to ["main"] : <2, tensor<64x816xi8>>
    tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {}
    return
  }
}
