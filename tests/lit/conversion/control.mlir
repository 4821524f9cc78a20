// RUN: %nereid-opt %s --split-input-file --lower-kernel --target sm_90a | FileCheck %s
// RUN: %nereid-opt %s --split-input-file --lower-kernel --target sm_80 | FileCheck %s --check-prefix=SM80

// Roles follow each other by warps, those that compute first. A budget above what the block was launched with takes registers, one
// below gives them back. Each role has a barrier of its own; groups of a role are told apart by their index.
#v = #tile.layout<rank = 1, reg = [], lane = [1, 2, 4, 8, 16], warp = [0]>
// CHECK-LABEL: llvm.func @roles
// CHECK-SAME: nvvm.maxnreg = 128 : i32, nvvm.maxntid = array<i32: 256>
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[MAIN:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
// CHECK: scf.if %[[MAIN]]
// CHECK: nvvm.setmaxregister increase 200
// CHECK: %[[BARRIER:.*]] = arith.constant 1 : i32
// CHECK: nvvm.barrier id = %[[BARRIER]] number_of_threads = %c128_i32
// CHECK: else
// CHECK: arith.cmpi ult, %[[WARP]], %c8_i32
// CHECK: %[[OWN:.*]] = arith.subi %[[WARP]], %c4_i32
// CHECK: %[[GROUP:.*]] = arith.divui %[[OWN]], %c2_i32
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: llvm.store %[[GROUP]], %{{.*}} : i32, !llvm.ptr<1>
// CHECK: %[[BASE:.*]] = arith.constant 2 : i32
// CHECK: %[[ID:.*]] = arith.addi %[[BASE]], %[[GROUP]]
// CHECK: nvvm.barrier id = %[[ID]] number_of_threads = %c64_i32
// SM80-LABEL: llvm.func @roles
// SM80-NOT: nvvm.setmaxregister
// SM80: llvm.return
func.func @roles(%p: !llvm.ptr, %n : i32) attributes {tile.kernel, tile.warps = 4 : i32, tile.max_registers = 128 : i32} {
  tile.warps
    role "load" warps 4 groups 2 registers 40 {
      %g = tile.group_id : i32
      %block = tile.program_id : i32
      %x = tile.load_scalar %p[%block] : i32, i32
      %v = tile.splat %g : i32 -> tensor<32xi32, #v>
      %at = tile.splat %x : i32 -> tensor<32xi32, #v>
      tile.store %p[%at], %v :  tensor<32xi32, #v>, tensor<32xi32, #v>
      %u = tile.ticket %p limit %n : i32
    }
    role "main" warps 4 registers 200 {
      %t = tile.ticket %p limit %n : i32
    }
  return
}

// -----

// A carried tile is its registers.
#v = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = []>
// CHECK-LABEL: llvm.func @carried
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, i32)
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, i32
func.func @carried(%p: !llvm.ptr, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32, #v>
  %one = arith.constant dense<1.0> : tensor<64xf32, #v>
  %i = tile.range 0 : tensor<64xi32, #v>
  %sum, %count = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero, %c = %c0) -> (tensor<64xf32, #v>, i32) : i32 {
    %t = arith.addf %s, %one : tensor<64xf32, #v>
    %d = arith.addi %c, %c1 : i32
    scf.yield %t, %d : tensor<64xf32, #v>, i32
  }
  tile.store %p[%i], %sum : tensor<64xi32, #v>, tensor<64xf32, #v>
  return
}

// -----

// So is a branch's result.
#v = #tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = []>
// CHECK-LABEL: llvm.func @branch
// CHECK: %[[R:.*]]:2 = scf.if %arg1 -> (i32, i32)
// CHECK: llvm.store %[[R]]#0
// CHECK: llvm.store %[[R]]#1
func.func @branch(%p: !llvm.ptr, %c: i1) attributes {tile.kernel, tile.warps = 1 : i32, tile.max_registers = 255 : i32} {
  %zero = arith.constant dense<0> : tensor<64xi32, #v>
  %i = tile.range 0 : tensor<64xi32, #v>
  %x = scf.if %c -> tensor<64xi32, #v> {
    scf.yield %i : tensor<64xi32, #v>
  } else {
    scf.yield %zero : tensor<64xi32, #v>
  }
  tile.store %p[%zero], %x : tensor<64xi32, #v>, tensor<64xi32, #v>
  return
}
