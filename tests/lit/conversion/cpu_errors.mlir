// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --tile-to-host

// Channels and roles belong to schedules of a GPU; the CPU takes the program as recorded.
func.func @channel() attributes {tile.kernel} {
  // expected-error @+1 {{no lowering for tile.channel; report this program}}
  %ch = tile.channel from "load" to ["main"] : <2, tensor<8xf32>>
  return
}

// -----

func.func @constant(%p: !llvm.ptr) attributes {tile.kernel} {
  // expected-error @+1 {{a constant tile with different elements; report this program}}
  %c = arith.constant dense<[1, 2, 4, 8]> : tensor<4xi32>
  tile.store %p[%c], %c : tensor<4xi32>, tensor<4xi32>
  return
}
