// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --expand-rows

func.func @whole(%p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>, %o: tensor<8x64xi32>) attributes {tile.kernel} {
  // expected-error @+1 {{gathered rows are used as a whole; take view() or column() of them, or scatter them}}
  %g = tile.gather_rows %p[%at] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  tile.store %p[%o], %g : tensor<8x64xi32>, tensor<8x64xi8>
  return
}

// -----

// A byte offset that is no multiple of the element has no element offset.
func.func @gather_align(%p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>) -> tensor<8x16xf32> {
  %g = tile.gather_rows %p[%at] mask %ok align 2 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  // expected-error @+1 {{rows aligned to 2 bytes hold elements of 4 bytes; promise a larger alignment, or take the rows as smaller elements}}
  %v = tile.view %g at 0 : tensor<8x64xi8> -> tensor<8x16xf32>
  return %v : tensor<8x16xf32>
}

// -----

func.func @scatter_align(%p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>, %v: tensor<8x16xf16>) {
  %bytes = tile.view %v at 0 : tensor<8x16xf16> -> tensor<8x32xi8>
  // expected-error @+1 {{rows aligned to 1 bytes hold elements of 2 bytes}}
  tile.scatter_rows %p[%at], %bytes mask %ok align 1 : tensor<8xi64>, tensor<8x32xi8>, tensor<8xi1>
  return
}
