// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --apply-schedule --assign-layouts --schedule warps=1

func.func @constant(%p: !llvm.ptr) attributes {tile.kernel} {
  // expected-error @+1 {{a constant tile with different elements; compute it from range()}}
  %c = arith.constant dense<[1, 2, 4, 8]> : tensor<4xi32>
  tile.store %p[%c], %c : tensor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @argument(%p: !llvm.ptr, %x: tensor<4xi32>) attributes {tile.kernel} {
  // expected-error @+1 {{a tile argument has no layout; report this program}}
  tile.store %p[%x], %x : tensor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @view(%p: !llvm.ptr) attributes {tile.kernel} {
  %at = arith.constant dense<0> : tensor<4x4xi32>
  %to = arith.constant dense<0> : tensor<4x2xi32>
  %bytes = tile.load %p[%at] : tensor<4x4xi32>, tensor<4x4xi8>
  // expected-error @+1 {{bytes are viewed that are neither gathered nor in shared memory; take views of gatherRows()}}
  %v = tile.view %bytes at 0 : tensor<4x4xi8> -> tensor<4x2xi16>
  tile.store %p[%to], %v : tensor<4x2xi32>, tensor<4x2xi16>
  return
}

// -----

// A layout covers powers of two: the rest of it would be read and written beyond the tile.
func.func @odd_size(%p: !llvm.ptr) attributes {tile.kernel} {
  // expected-error @+1 {{a tile tensor<24xi32> has a dimension that is no power of two; use powers of two and a mask}}
  %at = tile.range 0 : tensor<24xi32>
  tile.store %p[%at], %at : tensor<24xi32>, tensor<24xi32>
  return
}
