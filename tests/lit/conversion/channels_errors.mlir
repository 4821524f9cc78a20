// RUN: %nereid-opt %s --verify-diagnostics --lower-kernel --target sm_80

#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 0, 0], warp = []>
func.func @odd_rows(%p: !llvm.ptr) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %ch = tile.channel from "load" to ["main"] : <2, tensor<8x64xi8>>
  tile.warps role "load" warps 1 registers 0 {
    %c0 = arith.constant 0 : i32
    %at = arith.constant dense<0> : tensor<8xi64, #v>
    %ok = arith.constant dense<true> : tensor<8xi1, #v>
    // expected-error @+1 {{rows whose width or alignment is no multiple of 4 bytes cannot be copied asynchronously; align the rows, or run without roles}}
    tile.copy_rows %ch[%c0] payload 0 from %p[%at] mask %ok align 2 bulk false : <2, tensor<8x64xi8>>, tensor<8xi64, #v>, tensor<8xi1, #v>
  } role "main" warps 1 registers 0 {}
  return
}
