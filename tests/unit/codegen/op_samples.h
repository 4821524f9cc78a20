// One small kernel body for each kind of op in the table of checkTarget, with its result stored so that it reaches the back end.
#pragma once
#include <string>
#include <vector>

namespace nereid::compiler::test {

struct OpSample {
  const char* name;
  const char* body;
};

// Values in scope: %g global pointer, %s shared pointer, %p generic pointer, %c shared cluster pointer, %i i32, %l i64, %f f32,
// %b i1, %h vector<2xf16>, %w vector<2xbf16>, %v vector<2xi8>, %t i16.
inline std::string sampleModule(const OpSample& sample) {
  return std::string("llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>\n") +
         "llvm.func @k(%g: !llvm.ptr<1>, %p: !llvm.ptr, %i: i32, %l: i64, %f: f32, %h: vector<2xf16>, %w: vector<2xbf16>, %v: "
         "vector<2xi8>, "
         "%t: i16, %c: !llvm.ptr<7>) attributes {nvvm.kernel} {\n"
         "  %s = llvm.mlir.addressof @smem : !llvm.ptr<3>\n"
         "  %zero = llvm.mlir.constant(0 : i32) : i32\n"
         "  %b = llvm.icmp \"eq\" %i, %zero : i32\n" +
         sample.body + "\n  llvm.return\n}\n";
}

#define STORE(type) "llvm.store %r, %p : " type ", !llvm.ptr"
#define MMA(kind, k, a, b, c)                                                                    \
  "%r = nvvm.mma.sync A[" a "] B[" b "] C[" c                                                    \
  "] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "                        \
  "multiplicandAPtxType = #nvvm.mma_type<" kind ">, multiplicandBPtxType = #nvvm.mma_type<" kind \
  ">, shape = #nvvm.shape<m = 16, "                                                              \
  "n = 8, k = " k ">} : "
inline const std::vector<OpSample>& opSamples() {
  static const std::vector<OpSample> samples = {
      {"sreg.tid", "%r = nvvm.read.ptx.sreg.tid.x : i32 " STORE("i32")},
      {"sreg.laneid", "%r = nvvm.read.ptx.sreg.laneid : i32 " STORE("i32")},
      {"sreg.clusterid", "%r = nvvm.read.ptx.sreg.clusterid.x : i32 " STORE("i32")},
      {"sreg.cluster.ctarank", "%r = nvvm.read.ptx.sreg.cluster.ctarank : i32 " STORE("i32")},
      {"sreg.nclusterid", "%r = nvvm.read.ptx.sreg.nclusterid.x : i32 " STORE("i32")},
      {"sreg.aggr", "%r = nvvm.read.ptx.sreg.aggr.smem.size : i32 " STORE("i32")},
      {"barrier0", "nvvm.barrier0"},
      {"barrier.id",
       "%n = llvm.mlir.constant(64 : i32) : i32 %m = llvm.mlir.constant(3 : i32) : i32 nvvm.barrier id = %m number_of_threads = "
       "%n"},
      {"barrier.popc", "%r = nvvm.barrier #nvvm.reduction<popc> %i -> i32 " STORE("i32")},
      {"barrier.arrive", "%n = llvm.mlir.constant(64 : i32) : i32 nvvm.barrier.arrive id = %i number_of_threads = %n"},
      {"bar.warp.sync", "nvvm.bar.warp.sync %i : i32"},
      {"shfl", "%r = nvvm.shfl.sync bfly %i, %f, %i, %i : f32 -> f32 " STORE("f32")},
      {"vote", "%r = nvvm.vote.sync ballot %i, %b -> i32 " STORE("i32")},
      {"match", "%r = nvvm.match.sync any %i, %i : i32 -> i32 " STORE("i32")},
      {"redux.i32", "%r = nvvm.redux.sync umax %i, %i : i32 -> i32 " STORE("i32")},
      {"redux.f32", "%r = nvvm.redux.sync fmax %f, %i : f32 -> f32 " STORE("f32")},
      {"elect", "%r = nvvm.elect.sync -> i1 " STORE("i1")},
      {"nanosleep", "nvvm.nanosleep %i"},
      {"exit", "nvvm.exit"},
      {"membar", "nvvm.memory.barrier #nvvm.mem_scope<gpu>"},
      {"fence.proxy.async", "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"},
      {"fence.proxy.alias", "nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}"},
      {"fence.mbarrier.init", "nvvm.fence.mbarrier.init"},
      {"cluster.arrive", "nvvm.cluster.arrive"},
      {"cluster.wait", "nvvm.cluster.wait"},
      {"griddepcontrol", "nvvm.griddepcontrol wait"},
      {"setmaxregister", "nvvm.setmaxregister decrease 40"},
      {"mbarrier.init", "nvvm.mbarrier.init %s, %i : !llvm.ptr<3>, i32"},
      {"mbarrier.inval", "nvvm.mbarrier.inval %s : !llvm.ptr<3>"},
      {"mbarrier.arrive", "%r = nvvm.mbarrier.arrive %s : !llvm.ptr<3> -> i64 " STORE("i64")},
      {"mbarrier.arrive.count", "%r = nvvm.mbarrier.arrive %s, %i : !llvm.ptr<3> -> i64 " STORE("i64")},
      {"mbarrier.arrive.nocomplete", "%r = nvvm.mbarrier.arrive.nocomplete %s, %i : !llvm.ptr<3>, i32 -> i64 " STORE("i64")},
      {"mbarrier.arrive.expect_tx", "nvvm.mbarrier.arrive.expect_tx %s, %i : !llvm.ptr<3>, i32"},
      {"mbarrier.expect_tx", "nvvm.mbarrier.expect_tx %s, %i : !llvm.ptr<3>, i32"},
      {"mbarrier.complete_tx", "nvvm.mbarrier.complete_tx %s, %i : !llvm.ptr<3>, i32"},
      {"mbarrier.test.wait",
       "%a = nvvm.mbarrier.arrive %s : !llvm.ptr<3> -> i64 %r = nvvm.mbarrier.test.wait %s, %a : !llvm.ptr<3>, i64 -> i1 " STORE(
           "i1")},
      {"mbarrier.test.wait.parity", "%r = nvvm.mbarrier.test.wait %s, %i : !llvm.ptr<3>, i32 -> i1 " STORE("i1")},
      {"mbarrier.test.wait.relaxed",
       "%r = nvvm.mbarrier.test.wait %s, %i {relaxed = true} : !llvm.ptr<3>, i32 -> i1 " STORE("i1")},
      {"mbarrier.arrive.relaxed", "%r = nvvm.mbarrier.arrive %s {relaxed = true} : !llvm.ptr<3> -> i64 " STORE("i64")},
      {"mbarrier.arrive.cluster",
       "%r = nvvm.mbarrier.arrive %s {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3> -> i64 " STORE("i64")},
      {"mbarrier.test.wait.cluster",
       "%r = nvvm.mbarrier.test.wait %s, %i {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1 " STORE("i1")},
      {"mbarrier.try_wait", "%r = nvvm.mbarrier.try_wait %s, %i : !llvm.ptr<3>, i32 -> i1 " STORE("i1")},
      {"mbarrier.try_wait.ticks", "%r = nvvm.mbarrier.try_wait %s, %i, %i : !llvm.ptr<3>, i32, i32 -> i1 " STORE("i1")},
      {"mbarrier.try_wait.parity", "nvvm.mbarrier.try_wait.parity %s, %i, %i : !llvm.ptr<3>, i32, i32"},
      {"cp.async", "nvvm.cp.async.shared.global %s, %g, 16, cache = cg, %i : !llvm.ptr<3>, !llvm.ptr<1>, i32"},
      {"cp.async.commit", "nvvm.cp.async.commit.group nvvm.cp.async.wait.group 1"},
      {"cp.async.mbarrier.arrive", "nvvm.cp.async.mbarrier.arrive %s {noinc = 1 : i1} : !llvm.ptr<3>"},
      {"cp.async.bulk.cta", "nvvm.cp.async.bulk.shared.cluster.global %s, %g, %s, %i : !llvm.ptr<3>, !llvm.ptr<1>"},
      {"cp.async.bulk.cta.hint",
       "nvvm.cp.async.bulk.shared.cluster.global %s, %g, %s, %i l2_cache_hint = %l : !llvm.ptr<3>, !llvm.ptr<1>"},
      {"cp.async.bulk.cluster", "nvvm.cp.async.bulk.shared.cluster.global %c, %g, %s, %i : !llvm.ptr<7>, !llvm.ptr<1>"},
      {"mapa", "%r = nvvm.mapa %p, %i : !llvm.ptr -> !llvm.ptr " STORE("!llvm.ptr")},
      {"dp4a",
       "%q = llvm.bitcast %i : i32 to vector<4xi8> %r = nvvm.dot.accumulate.4way %q <signed>, %q <signed>, %i : vector<4xi8>, "
       "vector<4xi8> " STORE("i32")},
      {"cvt.e3m2", "%r = nvvm.convert.f32x2.to.f6x2 %f, %f : i16 (f6E3M2FN) " STORE("i16")},
      {"cvt.f16.e3m2", "%r = nvvm.convert.f6x2.to.f16x2 %v : vector<2xi8> (f6E3M2FN) -> vector<2xf16> " STORE("vector<2xf16>")},
      {"cp.async.bulk.store", "nvvm.cp.async.bulk.global.shared.cta %g, %s, %i : !llvm.ptr<1>, !llvm.ptr<3>"},
      {"cp.async.bulk.store.mask", "nvvm.cp.async.bulk.global.shared.cta %g, %s, %i byte_mask = %t : !llvm.ptr<1>, !llvm.ptr<3>"},
      {"cp.async.bulk.prefetch", "nvvm.cp.async.bulk.prefetch %g, %i : !llvm.ptr<1>"},
      {"cp.async.bulk.groups", "nvvm.cp.async.bulk.commit.group nvvm.cp.async.bulk.wait_group 0"},
      {"prefetch.L2", "nvvm.prefetch level = L2, %g : !llvm.ptr<1>"},
      {"prefetch.L2.evict", "nvvm.prefetch level = L2, evict_priority = evict_last, %g : !llvm.ptr<1>"},
      {"prefetch.tensormap", "nvvm.prefetch tensormap, %p : !llvm.ptr"},
      {"ldmatrix",
       "%r = nvvm.ldmatrix %s {num = 4 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
       "eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)> " STORE(
           "!llvm.struct<(i32, i32, i32, i32)>")},
      {"ldmatrix.b8",
       "%r = nvvm.ldmatrix %s {num = 1 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>, "
       "eltType = #nvvm.ld_st_matrix_elt_type<b8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)> " STORE(
           "!llvm.struct<(i32, i32)>")},
      {"stmatrix",
       "nvvm.stmatrix %s, %i, %i {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
       "eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32"},
      {"stmatrix.b8",
       "nvvm.stmatrix %s, %i {layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 8>, "
       "eltType = #nvvm.ld_st_matrix_elt_type<b8>} : !llvm.ptr<3>, i32"},
      {"mma.bf16",
       MMA("bf16", "16", "%i, %i, %i, %i", "%i, %i", "%f, %f, %f, %f") "(i32, i32, f32) -> !llvm.struct<(f32, f32, f32, "
                                                                       "f32)> " STORE("!llvm.struct<(f32, f32, f32, f32)>")},
      {"mma.f16", MMA("f16", "16", "%h, %h, %h, %h", "%h, %h",
                      "%f, %f, %f, %f") "(vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, "
                                        "f32)> " STORE("!llvm.struct<(f32, f32, f32, f32)>")},
      {"mma.e4m3",
       "%r = llvm.call_intrinsic \"llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32\"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) : "
       "(i32, i32, "
       "i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)> " STORE(
           "!llvm.struct<(f32, f32, f32, f32)>")},
      {"mma.e5m2",
       "%r = llvm.call_intrinsic \"llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32\"(%i, %i, %i, %i, %i, %i, %f, %f, %f, %f) : "
       "(i32, i32, "
       "i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)> " STORE(
           "!llvm.struct<(f32, f32, f32, f32)>")},
      {"mma.f8f6f4",
       "%r = llvm.call_intrinsic \"llvm.nvvm.mma.m16n8k32.row.col.kind.f8f6f4.f32.e4m3.e4m3.f32\"(%i, %i, %i, %i, %i, %i, %f, "
       "%f, %f, %f) : "
       "(i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)> " STORE(
           "!llvm.struct<(f32, f32, f32, f32)>")},
      {"mma.block_scale",
       "%r = nvvm.mma.block_scale A[%i, %i, %i, %i] B[%i, %i] C[%f, %f, %f, %f] scaleA[%i, %t, %t] scaleB[%i, %t, %t] {shape = "
       "#nvvm.shape<m = 16, n = 8, k = "
       "32>, multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = #nvvm.mma_type<e4m3>, scaleVecSize = "
       "#nvvm.scale_vec_size<x1>, "
       "blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf8f6f4>} : (i32, i32, f32) -> "
       "!llvm.struct<(f32, f32, f32, "
       "f32)> " STORE("!llvm.struct<(f32, f32, f32, f32)>")},
      {"cvt.tf32.rna", "%r = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rna>} " STORE("i32")},
      {"cvt.tf32.rn", "%r = nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rn>} " STORE("i32")},
      {"cvt.f16x2",
       "%r = nvvm.convert.f32x2.to.f16x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xf16> " STORE("vector<2xf16>")},
      {"cvt.bf16x2",
       "%r = nvvm.convert.f32x2.to.bf16x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16> " STORE("vector<2xbf16>")},
      {"cvt.f16x2.rs",
       "%r = nvvm.convert.f32x2.to.f16x2 %f, %f, %i {rnd = #nvvm.fp_rnd_mode<rs>} : vector<2xf16> " STORE("vector<2xf16>")},
      {"cvt.bf16x2.rs",
       "%r = nvvm.convert.f32x2.to.bf16x2 %f, %f, %i {rnd = #nvvm.fp_rnd_mode<rs>} : vector<2xbf16> " STORE("vector<2xbf16>")},
      {"cvt.e4m3",
       "%r = nvvm.convert.f32x2.to.f8x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16 "
       "(f8E4M3FN) " STORE("i16")},
      {"cvt.ue8m0",
       "%r = nvvm.convert.f32x2.to.f8x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rp>, sat = #nvvm.sat_mode<satfinite>} : i16 "
       "(f8E8M0FNU) " STORE("i16")},
      {"cvt.e4m3.f16", "%r = nvvm.convert.f16x2.to.f8x2 %h : vector<2xf16> -> i16 (f8E4M3FN) " STORE("i16")},
      {"cvt.ue8m0.bf16",
       "%r = nvvm.convert.bf16x2.to.f8x2 %w {rnd = #nvvm.fp_rnd_mode<rp>, sat = #nvvm.sat_mode<satfinite>} : vector<2xbf16> -> "
       "i16 "
       "(f8E8M0FNU) " STORE("i16")},
      {"cvt.f16.e4m3", "%r = nvvm.convert.f8x2.to.f16x2 %v : vector<2xi8> (f8E4M3FN) -> vector<2xf16> " STORE("vector<2xf16>")},
      {"cvt.bf16.ue8m0",
       "%r = nvvm.convert.f8x2.to.bf16x2 %v : vector<2xi8> (f8E8M0FNU) -> vector<2xbf16> " STORE("vector<2xbf16>")},
      {"cvt.e2m1", "%r = nvvm.convert.f32x2.to.f4x2 %f, %f : i8 (f4E2M1FN) " STORE("i8")},
      {"cvt.f16.e2m1",
       "%q = llvm.trunc %i : i32 to i8 %r = nvvm.convert.f4x2.to.f16x2 %q : i8 (f4E2M1FN) -> vector<2xf16> " STORE(
           "vector<2xf16>")},
      {"prmt", "%r = nvvm.prmt #nvvm.permute_mode<default> %i, %i, %i : i32 " STORE("i32")},
      {"rcp", "%r = nvvm.rcp.approx.ftz.f %f : f32 " STORE("f32")},
      {"ex2", "%r = llvm.call_intrinsic \"llvm.nvvm.ex2.approx.ftz.f32\"(%f) : (f32) -> f32 " STORE("f32")},
      {"ex2.bf16x2",
       "%r = llvm.call_intrinsic \"llvm.nvvm.ex2.approx.ftz.v2bf16\"(%w) : (vector<2xbf16>) -> vector<2xbf16> " STORE(
           "vector<2xbf16>")},
      {"ex2.f16x2",
       "%r = llvm.call_intrinsic \"llvm.nvvm.ex2.approx.v2f16\"(%h) : (vector<2xf16>) -> vector<2xf16> " STORE("vector<2xf16>")},
      {"ex2.f32", "%r = llvm.call_intrinsic \"llvm.nvvm.ex2.approx.f32\"(%f) : (f32) -> f32 " STORE("f32")},
      {"ex2.f16",
       "%q = llvm.extractelement %h[%zero : i32] : vector<2xf16> %r = llvm.call_intrinsic \"llvm.nvvm.ex2.approx.f16\"(%q) : "
       "(f16) -> f16 " STORE("f16")},
      {"ex2.bf16",
       "%q = llvm.extractelement %w[%zero : i32] : vector<2xbf16> %r = llvm.call_intrinsic \"llvm.nvvm.ex2.approx.ftz.bf16\"(%q) "
       ": (bf16) -> bf16 " STORE("bf16")},
      {"rcp.call", "%r = llvm.call_intrinsic \"llvm.nvvm.rcp.approx.ftz.f\"(%f) : (f32) -> f32 " STORE("f32")},
      {"sqrt", "%r = llvm.call_intrinsic \"llvm.nvvm.sqrt.approx.f\"(%f) : (f32) -> f32 " STORE("f32")},
      {"lg2", "%r = llvm.call_intrinsic \"llvm.nvvm.lg2.approx.f\"(%f) : (f32) -> f32 " STORE("f32")},
      {"rsqrt", "%r = llvm.call_intrinsic \"llvm.nvvm.rsqrt.approx.f\"(%f) : (f32) -> f32 " STORE("f32")},
  };
  return samples;
}
#undef STORE
#undef MMA

}  // namespace nereid::compiler::test
