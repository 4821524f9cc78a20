// RUN: not %nereid-opt %s --apply-schedule --partition-roles --schedule 'roles=main+load,role.main.warps=1,role.main.dots=x' 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: error: the first role is not load (schedule); list role load first, then the roles that compute
// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --apply-schedule --partition-roles --schedule 'roles=load+main,role.main.warps=1,role.load.groups=2,role.main.dots=x'

func.func @nested(%pool: !llvm.ptr {tile.align = 16 : i32}, %out: !llvm.ptr, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = arith.constant dense<0> : tensor<16xi64>
  %ok = arith.constant dense<true> : tensor<16xi1>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{a loop that gathers rows lies in another loop; run it without roles}}
    scf.for %j = %c0 to %n step %c1 : i32 {
      %rows = tile.gather_rows %pool[%at] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x16xi8>
      tile.scatter_rows %out[%at], %rows mask %ok align 16 : tensor<16xi64>, tensor<16x16xi8>, tensor<16xi1>
    }
  }
  return
}

// -----

// An address from the rows themselves would wait for the ring that it fills.
func.func @read_back(%pool: !llvm.ptr {tile.align = 16 : i32}, %out: !llvm.ptr, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = arith.constant dense<0> : tensor<16xi64>
  %ok = arith.constant dense<true> : tensor<16xi1>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{the role load reads rows that it gathers for other roles; gather what is staged or addresses rows by itself}}
    %list = tile.gather_rows %pool[%at] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x16xi8>
    %next = tile.view %list at 0 : tensor<16x16xi8> -> tensor<16xi64>
    %rows = tile.gather_rows %pool[%next] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x16xi8>
    tile.scatter_rows %out[%at], %rows mask %ok align 16 : tensor<16xi64>, tensor<16x16xi8>, tensor<16xi1>
  }
  return
}

// -----

// Groups run iterations side by side, so nothing passes from one to the next.
func.func @carried(%pool: !llvm.ptr {tile.align = 16 : i32}, %out: !llvm.ptr, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<16xi64>
  %one = arith.constant dense<1> : tensor<16xi64>
  %ok = arith.constant dense<true> : tensor<16xi1>
  // expected-error @+1 {{role load has groups and carries values through a loop; use one group}}
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%at = %zero) -> (tensor<16xi64>) : i32 {
    %rows = tile.gather_rows %pool[%at] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x16xi8>
    tile.scatter_rows %out[%at], %rows mask %ok align 16 : tensor<16xi64>, tensor<16x16xi8>, tensor<16xi1>
    %next = arith.addi %at, %one : tensor<16xi64>
    scf.yield %next : tensor<16xi64>
  }
  return
}
