// RUN: %nereid-opt %s --verify-diagnostics --expand-rows

func.func @whole(%p: !llvm.ptr, %at: tensor<8xi64>, %ok: tensor<8xi1>, %o: tensor<8x64xi32>) attributes {tile.kernel} {
  // expected-error @+1 {{gathered rows are used as a whole; take view() or column() of them, or scatter them}}
  %g = tile.gather_rows %p[%at] mask %ok align 16 : tensor<8xi64>, tensor<8xi1>, tensor<8x64xi8>
  tile.store %p[%o], %g : tensor<8x64xi32>, tensor<8x64xi8>
  return
}
