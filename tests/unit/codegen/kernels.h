// Kernels in MLIR text for the tests of code generation.
#pragma once

namespace nereid::compiler::test {

// c[i] = a[i] + b[i] over a grid-stride loop, four floats a step: func, scf, arith, vector and llvm ops.
inline constexpr const char* kVectorAdd = R"mlir(
llvm.func @vector_add(%a: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %b: !llvm.ptr<1> {llvm.align = 16 : i64},
                      %c: !llvm.ptr<1> {llvm.align = 16 : i64}, %n: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>, nvvm.maxnreg = 64 : i32} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c4 = arith.constant 4 : i32
  %c512 = arith.constant 512 : i32
  %first_block = arith.muli %block, %c512 : i32
  %lane = arith.muli %tid, %c4 : i32
  %first = arith.addi %first_block, %lane : i32
  %step = arith.muli %grid, %c512 : i32
  scf.for %i = %first to %n step %step : i32 {
    %at = arith.extsi %i : i32 to i64
    %pa = llvm.getelementptr %a[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %pb = llvm.getelementptr %b[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %pc = llvm.getelementptr %c[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %pa {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %y = llvm.load %pb {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %z = arith.addf %x, %y : vector<4xf32>
    llvm.store %z, %pc {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  }
  llvm.return
}
)mlir";

// One warp, one m16n8k16 tile: A and B go by cp.async to shared memory, by ldmatrix to registers, through mma.sync to global
// memory.
inline constexpr const char* kMmaTile = R"mlir(
llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @mma_tile(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %d: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32>} {
  %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
  %lane = nvvm.read.ptx.sreg.tid.x : i32
  %c16 = arith.constant 16 : i32
  %bytes = arith.muli %lane, %c16 : i32
  %sa = llvm.getelementptr %smem[%bytes] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %sb = llvm.getelementptr %sa[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %ga = llvm.getelementptr %a[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %gb = llvm.getelementptr %b[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  nvvm.cp.async.shared.global %sa, %ga, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.shared.global %sb, %gb, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier
  %fa = nvvm.ldmatrix %sa {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>,
    eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %fb = nvvm.ldmatrix %sb {num = 2 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>,
    eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  %a0 = llvm.extractvalue %fa[0] : !llvm.struct<(i32, i32, i32, i32)>
  %a1 = llvm.extractvalue %fa[1] : !llvm.struct<(i32, i32, i32, i32)>
  %a2 = llvm.extractvalue %fa[2] : !llvm.struct<(i32, i32, i32, i32)>
  %a3 = llvm.extractvalue %fa[3] : !llvm.struct<(i32, i32, i32, i32)>
  %b0 = llvm.extractvalue %fb[0] : !llvm.struct<(i32, i32)>
  %b1 = llvm.extractvalue %fb[1] : !llvm.struct<(i32, i32)>
  %zero = arith.constant 0.0 : f32
  %r = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%zero, %zero, %zero, %zero]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>,
     multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %r0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
  %r1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>
  %e0 = math.exp2 %r0 : f32
  %pd = llvm.getelementptr %d[%bytes] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %v = vector.from_elements %e0, %r1 : vector<2xf32>
  llvm.store %v, %pd {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  llvm.return
}
)mlir";

}  // namespace nereid::compiler::test
