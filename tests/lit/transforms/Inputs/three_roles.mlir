func.func @kernel(%pool: !llvm.ptr {tile.align = 16 : i32}, %out: !llvm.ptr {tile.align = 4 : i32}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = arith.constant dense<1.0> : tensor<16x256xf16>
  %ok = arith.constant dense<true> : tensor<16xi1>
  %one = arith.constant dense<1.0> : tensor<16x16xf16>
  %lane = tile.range 0 : tensor<16xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %first = tile.splat %i : i32 -> tensor<16xi32>
    %at = arith.addi %first, %lane : tensor<16xi32>
    %offset = arith.extsi %at : tensor<16xi32> to tensor<16xi64>
    %rows = tile.gather_rows %pool[%offset] mask %ok align 16 : tensor<16xi64>, tensor<16xi1>, tensor<16x512xi8>
    %few = tile.gather_rows %pool[%offset] mask %ok align 4 : tensor<16xi64>, tensor<16xi1>, tensor<16x4xi8>
    %scale = tile.view %few at 0 : tensor<16x4xi8> -> tensor<16xf32>
    %staged = tile.staged %scale : tensor<16xf32>
    %k = tile.view %rows at 0 : tensor<16x512xi8> -> tensor<16x256xf16>
    %kt = tile.trans %k : tensor<16x256xf16> -> tensor<256x16xf16>
    %d = tile.dot "x" %a, %kt, %zero : tensor<16x256xf16>, tensor<256x16xf16>, tensor<16x16xf32>
    %s = tile.broadcast %staged dim 1 : tensor<16xf32> -> tensor<16x16xf32>
    %p = arith.mulf %d, %s : tensor<16x16xf32>
    %h = arith.truncf %p : tensor<16x16xf32> to tensor<16x16xf16>
    %more = arith.addf %h, %one : tensor<16x16xf16>
    %v = tile.view %rows at 0 : tensor<16x512xi8> -> tensor<16x16xf16>
    %e = tile.dot "y" %more, %v, %acc : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    scf.yield %e : tensor<16x16xf32>
  }
  %r = tile.broadcast %lane dim 0 : tensor<16xi32> -> tensor<16x16xi32>
  tile.store %out[%r], %sum : tensor<16x16xi32>, tensor<16x16xf32>
  return
}
