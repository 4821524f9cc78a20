// MLIR to PTX: kernels for each target, what the PTX says, and the errors.
#include "compiler/codegen/module_to_ptx.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <thread>

#include "compiler/codegen/check_target.h"
#include "tests/unit/codegen/fixtures.h"
#include "tests/unit/codegen/kernels.h"

using namespace nereid;
using namespace nereid::compiler;
using namespace nereid::compiler::test;

namespace {

Result<std::string> compile(const std::string& text, const Target& target, Trace& trace) {
  Parsed parsed(text);
  if (!parsed.module) return Diag{Code::kInput, parsed.error, "", ""};
  NEREID_CHECK_OK(lowerToLlvmDialect(*parsed, trace));
  return moduleToPtx(*parsed, target, trace);
}

std::string ptxOf(const std::string& text, const char* target = "sm_90a") {
  Trace trace;
  Result<std::string> ptx = compile(text, *findTarget(target), trace);
  INFO((ptx ? "" : ptx.diag().text()));
  REQUIRE(ptx);
  return *ptx;
}

Diag errorOf(const std::string& text, const char* target = "sm_90a") {
  Trace trace;
  Result<std::string> ptx = compile(text, *findTarget(target), trace);
  REQUIRE_FALSE(ptx);
  return ptx.diag();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A kernel with pointer %p, f32 %x and vector<4xf32> %v around `body`, which defines %r of `type`.
std::string mathKernel(const std::string& body, const std::string& type = "f32") {
  return "llvm.func @k(%p: !llvm.ptr<1>, %x: f32, %y: f32, %i: i32) attributes {nvvm.kernel} {\n"
         "  %v = vector.from_elements %x, %y, %x, %y : vector<4xf32>\n  " +
         body + "\n  llvm.store %r, %p : " + type + ", !llvm.ptr<1>\n  llvm.return\n}\n";
}

}  // namespace

TEST_CASE("vector add becomes PTX and a cubin on each target") {
  for (const Target& target : gpuTargets()) {
    INFO(target.name);
    Trace trace;
    Result<std::string> ptx = compile(kVectorAdd, target, trace);
    INFO((ptx ? "" : ptx.diag().text()));
    REQUIRE(ptx);
    CHECK(contains(*ptx, ".target " + target.name));
    CHECK(contains(*ptx, fmt::format(".version {}.{}", target.ptx_version / 10, target.ptx_version % 10)));
    CHECK(contains(*ptx, ".visible .entry vector_add"));
    CHECK(contains(*ptx, ".maxntid 128"));
    CHECK(contains(*ptx, ".maxnreg 64"));
    CHECK((contains(*ptx, "ld.global.v4.b32") || contains(*ptx, "ld.global.v2.b64")));  // 16 bytes a lane; pairs from sm_100 on
    Result<Assembled> cubin = assemble(*ptx, target);
    INFO((cubin ? "" : cubin.diag().text()));
    REQUIRE(cubin);
    CHECK(cubin->cubin.size() > 500);
    CHECK(cubin->resources.registers > 0);
    CHECK(cubin->resources.registers <= 64);
    CHECK(cubin->resources.spill_bytes == 0);
    for (const char* stage : {"mlir", "check", "translate", "optimise", "codegen"}) CHECK(trace.stages_ms.count(stage) == 1);
  }
}

TEST_CASE("a tile through cp.async, ldmatrix and mma on each target") {
  for (const Target& target : gpuTargets()) {
    INFO(target.name);
    Trace trace;
    Result<std::string> ptx = compile(kMmaTile, target, trace);
    INFO((ptx ? "" : ptx.diag().text()));
    REQUIRE(ptx);
    CHECK(contains(*ptx, ".extern .shared .align 1024 .b8 smem[]"));
    Result<Assembled> cubin = assemble(*ptx, target);
    INFO((cubin ? "" : cubin.diag().text()));
    REQUIRE(cubin);
    std::map<std::string, int> counts = cubin->resources.instructions;
    CHECK(counts["mma"] == 1);
    CHECK(counts["ldmatrix"] == 2);
    CHECK(counts["cp.async"] == 2);
    CHECK(counts["ex2"] == 1);
    CHECK(counts["bar"] == 1);
  }
}

TEST_CASE("elementary functions become the approximations of the hardware") {
  CHECK(contains(ptxOf(mathKernel("%r = math.exp2 %x : f32")), "ex2.approx.ftz.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = math.log2 %x : f32")), "lg2.approx.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = math.rsqrt %x : f32")), "rsqrt.approx.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = math.exp %x : f32")), "ex2.approx.ftz.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = math.tanh %x : f32")), "ex2.approx.ftz.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = math.sqrt %x : f32")), "sqrt.rn.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = math.fma %x, %y, %x : f32")), "fma.rn.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = arith.maxnumf %x, %y : f32")), "max.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = arith.maximumf %x, %y : f32")), "max.NaN.f32"));
  CHECK(countInstructions(ptxOf(mathKernel("%r = math.exp2 %v : vector<4xf32>", "vector<4xf32>")))["ex2"] == 2);
}

TEST_CASE("divisions are exact unless afn is set, products and sums fuse") {
  CHECK(contains(ptxOf(mathKernel("%r = arith.divf %x, %y : f32")), "div.rn.f32"));
  CHECK(contains(ptxOf(mathKernel("%r = arith.divf %x, %y fastmath<afn> : f32")), "div.approx.f32"));
  CHECK(contains(ptxOf(mathKernel("%q = arith.mulf %x, %y : f32 %r = arith.addf %q, %x : f32")), "fma.rn.f32"));
  CHECK(contains(ptxOf(mathKernel("%q = arith.constant 7 : i32 %r = arith.ceildivsi %i, %q : i32", "i32")), ".visible .entry k"));
}

TEST_CASE("loops are not unrolled behind the lowering's back") {
  std::string loop = mathKernel(
      "%c0 = arith.constant 0 : i32 %c1 = arith.constant 1 : i32 %c8 = arith.constant 8 : i32\n"
      "%r = scf.for %j = %c0 to %c8 step %c1 iter_args(%s = %x) -> (f32) : i32 {\n"
      "  %e = math.exp2 %s : f32\n  scf.yield %e : f32 }");
  CHECK(countInstructions(ptxOf(loop))["ex2"] == 1);
}

TEST_CASE("dumps are kept when asked for") {
  Trace trace;
  trace.wanted = {"cf", "llvm", "llvmir", "llvmir.opt"};
  REQUIRE(compile(kVectorAdd, *findTarget("sm_80"), trace));
  CHECK(contains(trace.dumps["cf"], "cf.cond_br"));
  CHECK(contains(trace.dumps["llvm"], "llvm.func @vector_add"));
  CHECK_FALSE(contains(trace.dumps["llvm"], "cf.cond_br"));
  CHECK(contains(trace.dumps["llvmir"], "ptx_kernel void @vector_add"));
  CHECK(contains(trace.dumps["llvmir.opt"], "target triple = \"nvptx64-nvidia-cuda\""));
}

TEST_CASE("the pass table prints each pass with its reason") {
  std::string text = printPassTable(gpuLoweringTable());
  CHECK(contains(text, "convert-scf-to-cf"));
  CHECK(contains(text, "[dump: llvm]"));
}

TEST_CASE("refusals name the op, the target and what it needs") {
  std::string bulk = R"(
llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @k(%g: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %s = llvm.mlir.addressof @smem : !llvm.ptr<3>
  nvvm.cp.async.bulk.shared.cluster.global %s, %g, %s, %n : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
})";
  Diag diag = errorOf(bulk, "sm_89");
  CHECK(diag.code == Code::kUnsupported);
  CHECK(contains(diag.what, "nvvm.cp.async.bulk.shared.cluster.global"));
  CHECK(contains(diag.what, "sm_89"));
  CHECK(contains(diag.what, "sm_90"));
  CHECK(contains(diag.where, "test.mlir:5"));
  CHECK(contains(ptxOf(bulk), "cp.async.bulk.shared::cta.global"));

  Target old = *findTarget("sm_90a");
  old.ptx_version = 80;
  Trace trace;
  Result<std::string> ptx = compile(bulk, old, trace);
  REQUIRE_FALSE(ptx);
  CHECK(contains(ptx.diag().what, "needs PTX 8.6"));

  diag = errorOf("llvm.func @k() attributes {nvvm.kernel} { nvvm.wgmma.fence.aligned llvm.return }");
  CHECK(contains(diag.what, "no target of Nereid uses it"));
  diag = errorOf("llvm.func @k() attributes {nvvm.kernel} { nvvm.breakpoint llvm.return }");
  CHECK(contains(diag.what, "'nvvm.breakpoint' is not in the table"));
  diag = errorOf(mathKernel("%r = llvm.call_intrinsic \"llvm.nvvm.sin.approx.f\"(%x) : (f32) -> f32"));
  CHECK(contains(diag.what, "'llvm.nvvm.sin.approx.f' is not in the table"));
  diag = errorOf(mathKernel("%r = llvm.intr.exp(%x) : (f32) -> f32"));
  CHECK(contains(diag.what, "'llvm.intr.exp' has no instruction"));
}

TEST_CASE("an op without a lowering is an error that names it") {
  CHECK(contains(errorOf(mathKernel("%r = math.sin %x : f32")).what, "'math.sin' on 'f32' has no GPU lowering"));
  CHECK(contains(errorOf(mathKernel("%q = arith.truncf %x : f32 to f16 %r = math.exp2 %q : f16", "f16")).what,
                 "'math.exp2' on 'f16'"));
  Diag diag = errorOf(
      "llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} { %m = memref.alloca() : memref<4xf32>\n %c = arith.constant 0 : "
      "index\n"
      "%r = memref.load %m[%c] : memref<4xf32>\n llvm.store %r, %p : f32, !llvm.ptr<1>\n llvm.return }");
  CHECK(diag.code == Code::kInternal);
  CHECK_MESSAGE(contains(diag.what, "memref"), diag.text());
}

TEST_CASE("shared memory must be one external aligned global") {
  std::string kernel = "llvm.func @k() attributes {nvvm.kernel} { llvm.return }\n";
  CHECK(contains(
      errorOf("llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<64 x i8>\n" + kernel)
          .what,
      "shared-memory global 's' must be external"));
  CHECK(contains(errorOf("llvm.mlir.global external @s() {addr_space = 3 : i32} : !llvm.array<0 x i8>\n" + kernel).what,
                 "aligned"));
  CHECK(contains(errorOf("llvm.func @k() { llvm.return }").what, "no kernel"));
}

TEST_CASE("LLVM's own errors come back as values") {
  // A constraint that LLVM cannot satisfy; the check before it would refuse the text.
  Parsed parsed(
      "llvm.func @k(%x: f32) attributes {nvvm.kernel} {\n"
      "  llvm.inline_asm has_side_effects \"mov.b32 $0, 1;\", \"{nosuchregister}\" %x : (f32) -> ()\n  llvm.return\n}\n");
  INFO(parsed.error);
  REQUIRE(parsed.module);
  Trace trace;
  Result<std::string> ptx = moduleToPtxUnchecked(*parsed, *findTarget("sm_90a"), trace);
  REQUIRE_FALSE(ptx);
  CHECK(contains(ptx.diag().what, "nosuchregister"));
}

TEST_CASE("the text depends on the module and the target only, also with several threads at work") {
  std::vector<std::string> texts(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < texts.size(); i++) {
    threads.emplace_back([&texts, i] {
      Trace trace;
      Target target = *findTarget(i % 2 ? "sm_90a" : "sm_120a");
      Result<std::string> ptx = compile(kMmaTile, target, trace);
      if (ptx && assemble(*ptx, target)) texts[i] = *ptx;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < texts.size(); i++) {
    CHECK_FALSE(texts[i].empty());
    CHECK(texts[i] == texts[i % 2]);
  }
  CHECK(texts[0] != texts[1]);
}
