// RUN: %nereid-opt %s --check-target --target sm_120a | FileCheck %s
// RUN: not %nereid-opt %s --check-target --target sm_89 2>&1 | FileCheck %s --check-prefix=SM89

// Nothing changes where the target has all of it; else the first op it lacks is named at its place, with what it needs.
// CHECK-LABEL: llvm.func @kernel
// CHECK: nvvm.convert.f8x2.to.f16x2
// CHECK: nvvm.setmaxregister increase 152
// SM89: check_target.mlir:[[# @LINE + 8]]:5: error: op 'nvvm.setmaxregister' is not supported on sm_89: it needs one of sm_90a sm_100a sm_103a sm_120a sm_121a; choose such a target, or a schedule that does not use the instruction
module {
  llvm.mlir.global external @nereid_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%x: vector<2xi8>, %f: f32, %p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %h = nvvm.convert.f8x2.to.f16x2 %x : vector<2xi8> (f8E4M3FN) -> vector<2xf16>
    %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%f) : (f32) -> f32
    llvm.inline_asm has_side_effects "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r,~{memory}" %p, %f, %f : (!llvm.ptr<1>, f32, f32) -> ()
    nvvm.barrier
    nvvm.setmaxregister increase 152
    llvm.return
  }
}
