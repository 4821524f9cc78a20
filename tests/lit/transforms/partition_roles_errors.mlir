// RUN: not %nereid-opt %s --apply-schedule --partition-roles --schedule 'roles=main+load,role.main.warps=1,role.main.dots=x' 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: error: the first role is not load (schedule); list role load first, then the roles that compute
// RUN: not %nereid-opt %s --apply-schedule --partition-roles --schedule 'roles=load+main,role.main.warps=1,role.main.dots=x' 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: a loop that gathers rows lies in another loop; run it without roles

func.func @kernel(%pool: !llvm.ptr {tile.align = 16 : i32}, %out: !llvm.ptr, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = arith.constant dense<0> : tensor<16xi64>
  %ok = arith.constant dense<true> : tensor<16xi1>
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      %rows = tile.gather_rows %pool[%at] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x16xi8>
      tile.scatter_rows %out[%at], %rows mask %ok align 16 : tensor<16xi64>, tensor<16x16xi8>, tensor<16xi1>
    }
  }
  return
}
