// RUN: %nereid-opt %s --verify-diagnostics --lower-kernel

#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8, 16], warp = []>
func.func @scale(%p: !llvm.ptr, %x: f32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %at = arith.constant dense<0> : tensor<32xi32, #v>
  %v = tile.splat %x : f32 -> tensor<32xf32, #v>
  // expected-error @+1 {{a conversion to f8E8M0FNU; compute the code, which is the exponent field of f32, as an integer}}
  %s = arith.truncf %v : tensor<32xf32, #v> to tensor<32xf8E8M0FNU, #v>
  tile.store %p[%at], %s : tensor<32xi32, #v>, tensor<32xf8E8M0FNU, #v>
  return
}
