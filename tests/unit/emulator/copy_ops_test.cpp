// cp.async, bulk copies and mbarriers: data, zero fill, phases, and the inline PTX forms.
#include "compiler/codegen/inline_ptx.h"
#include "compiler/emulator/intrinsics.h"
#include "tests/unit/emulator/lane_kernel.h"
#include "tests/unit/emulator/ring_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

uint32_t scramble(int thread, int input) { return static_cast<uint32_t>(thread * 2654435761u + input * 40503u) ^ 0x5A5A1234u; }

// Like runLanes, for seeds that let copies arrive late, at random and at once; every run is clean and gives the same.
LaneRun runSeeds(int inputs, int outputs, const std::string& body, const std::function<uint32_t(int, int)>& fill,
                 int threads = 32) {
  LaneRun result = runLanes(inputs, outputs, body, fill, threads);
  Kernel kernel{loadText(laneModule(inputs, outputs, body)), threads, 16384};
  for (uint64_t seed = 0; seed < 9; seed++) {
    CAPTURE(seed);
    std::vector<uint32_t> out(result.out.size());
    const EmulationReport report =
        run(kernel, 1, {slot(result.in.data()), slot(out.data())}, {input(result.in, "in"), output(out, "out")}, {.seed = seed});
    CHECK_MESSAGE(report.clean(), report.text());
    CHECK(out == result.out);
  }
  return result;
}

const char* const kAddresses =
    "%g = llvm.addrspacecast %p_in : !llvm.ptr to !llvm.ptr<1>\n"
    "%row_bytes = llvm.mlir.constant(16 : i32) : i32\n"
    "%at = llvm.mul %tid, %row_bytes : i32\n"
    "%p = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n";
const char* const kLoadRow =
    "%r0 = llvm.load %p : !llvm.ptr<3> -> i32\n"
    "%p1 = llvm.getelementptr %p[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n%r1 = llvm.load %p1 : !llvm.ptr<3> -> i32\n"
    "%p2 = llvm.getelementptr %p[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n%r2 = llvm.load %p2 : !llvm.ptr<3> -> i32\n"
    "%p3 = llvm.getelementptr %p[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n%r3 = llvm.load %p3 : !llvm.ptr<3> -> i32\n";

}  // namespace

TEST_CASE("cp.async with a group: 16 bytes, part of it zero") {
  const std::string body = std::string(kAddresses) +
                           "%read = llvm.and %a0, %c16 : i32\n"    // 0 or 16
                           "%half = llvm.lshr %read, %c1 : i32\n"  // 0 or 8
                           "nvvm.cp.async.shared.global %p, %g, 16, cache = cg, %half : !llvm.ptr<3>, !llvm.ptr<1>, i32\n"
                           "nvvm.cp.async.commit.group\n"
                           "nvvm.cp.async.wait.group 0\n" +
                           kLoadRow;
  const LaneRun run = runSeeds(4, 4, body, scramble);
  for (int t = 0; t < 32; t++) {
    const int words = run.given(t) & 16 ? 2 : 0;
    for (int i = 0; i < 4; i++) CHECK(run.at(t, i) == (i < words ? run.given(t, i) : 0));
  }
}

TEST_CASE("cp.async of 4 and 8 bytes; groups complete in order") {
  const std::string body = std::string(kAddresses) +
                           "%g8 = llvm.getelementptr %g[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n"
                           "%p8 = llvm.getelementptr %p[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
                           "%g12 = llvm.getelementptr %g[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n"
                           "%p12 = llvm.getelementptr %p[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
                           "nvvm.cp.async.shared.global %p, %g, 8, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>\n"
                           "nvvm.cp.async.commit.group\n"
                           "nvvm.cp.async.shared.global %p8, %g8, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>\n"
                           "nvvm.cp.async.shared.global %p12, %g12, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>\n"
                           "nvvm.cp.async.commit.group\n"
                           "nvvm.cp.async.wait.group 1\n"
                           "%early = llvm.load %p : !llvm.ptr<3> -> i32\n"
                           "nvvm.cp.async.wait.group 0\n" +
                           kLoadRow;
  const LaneRun run = runSeeds(4, 4, body, scramble);
  for (int t = 0; t < 32; t++)
    for (int i = 0; i < 4; i++) CHECK(run.at(t, i) == run.given(t, i));
}

TEST_CASE("cp.async that arrives on an mbarrier, with and without noinc") {
  for (bool noinc : {true, false}) {
    CAPTURE(noinc);
    // Without noinc the copies' arrival counts itself in, so a normal arrival of each thread completes the phase.
    const std::string body =
        std::string(kAddresses) +
        "%bar = llvm.getelementptr %s[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
        "%count = llvm.mlir.constant(32 : i32) : i32\n"
        "%leader = llvm.icmp \"eq\" %tid, %c0 : i32\n"
        "llvm.cond_br %leader, ^init, ^ready\n"
        "^init:\n"
        "nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32\n"
        "llvm.br ^ready\n"
        "^ready:\n"
        "nvvm.barrier0\n"
        "nvvm.cp.async.shared.global %p, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>\n" +
        (noinc
             ? "nvvm.cp.async.mbarrier.arrive %bar {noinc = 1 : i1} : !llvm.ptr<3>\n"
             : "nvvm.cp.async.mbarrier.arrive %bar : !llvm.ptr<3>\n%state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64\n") +
        "llvm.br ^wait\n"
        "^wait:\n"
        "%done = nvvm.mbarrier.try_wait %bar, %c0 : !llvm.ptr<3>, i32 -> i1\n"
        "llvm.cond_br %done, ^go, ^wait\n"
        "^go:\n" +
        // Another lane's row: the mbarrier orders all copies.
        "%o = llvm.xor %at, %c16 : i32\n%q = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n%r0 = "
        "llvm.load %q : !llvm.ptr<3> -> i32\n";
    const LaneRun run = runSeeds(4, 1, body, scramble);
    for (int t = 0; t < 32; t++) CHECK(run.at(t) == run.given(t ^ 1, 0));
  }
}

TEST_CASE("a ring of bulk copies: phases, expected bytes, reuse of a slot") {
  const LaneRun run = runSeeds(4, 1, kRingBody, scramble, 64);
  for (int lane = 0; lane < 32; lane++) {
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) sum += run.in[static_cast<size_t>(i * 64 + lane)];
    CHECK(run.at(32 + lane) == sum);
  }
}

TEST_CASE("bulk store: shared to global, with a proxy fence and a bulk group") {
  const std::string body =
      "%g = llvm.addrspacecast %out : !llvm.ptr to !llvm.ptr<1>\n"
      "%mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "llvm.store %a0, %mine : i32, !llvm.ptr<3>\n"
      "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n"
      "nvvm.barrier0\n"
      "%bytes = llvm.mlir.constant(128 : i32) : i32\n"
      "%leader = llvm.icmp \"eq\" %tid, %c0 : i32\n"
      "llvm.cond_br %leader, ^store, ^done\n"
      "^store:\n"
      "nvvm.cp.async.bulk.global.shared.cta %g, %s, %bytes : !llvm.ptr<1>, !llvm.ptr<3>\n"
      "nvvm.cp.async.bulk.commit.group\n"
      "nvvm.cp.async.bulk.wait_group 0\n"
      "llvm.br ^done\n"
      "^done:\n";
  LaneRun result{1, 1, 32, {}, {}, {}};
  for (int t = 0; t < 32; t++) result.in.push_back(scramble(t, 0));
  for (uint64_t seed = 0; seed < 6; seed++) {
    result.out.assign(32, 0);
    Kernel kernel{loadText(laneModule(1, 0, body)), 32, 16384};
    const EmulationReport report = run(kernel, 1, {slot(result.in.data()), slot(result.out.data())},
                                       {input(result.in, "in"), output(result.out, "out")}, {.seed = seed});
    CHECK_MESSAGE(report.clean(), report.text());
    CHECK(result.out == result.in);
  }
}

TEST_CASE("mbarrier states, counts and test_wait") {
  const std::string body =
      "%bar = llvm.getelementptr %s[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
      "nvvm.mbarrier.init %bar, %c3 : !llvm.ptr<3>, i32\n"
      "%s0 = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64\n"
      "%pending = nvvm.mbarrier.test.wait %bar, %c0 : !llvm.ptr<3>, i32 -> i1\n"
      "%r0 = llvm.zext %pending : i1 to i32\n"
      "%s1 = nvvm.mbarrier.arrive.nocomplete %bar, %c1 : !llvm.ptr<3>, i32 -> i64\n"
      "%s2 = nvvm.mbarrier.arrive %bar, %c1 : !llvm.ptr<3> -> i64\n"
      "%over = nvvm.mbarrier.test.wait %bar, %s2 : !llvm.ptr<3>, i64 -> i1\n"
      "%r1 = llvm.zext %over : i1 to i32\n"
      "%by_parity = nvvm.mbarrier.test.wait %bar, %c0 : !llvm.ptr<3>, i32 -> i1\n"
      "%r2 = llvm.zext %by_parity : i1 to i32\n"
      "%other = nvvm.mbarrier.test.wait %bar, %c1 : !llvm.ptr<3>, i32 -> i1\n"
      "%r3 = llvm.zext %other : i1 to i32\n"
      "nvvm.mbarrier.inval %bar : !llvm.ptr<3>\n";
  const LaneRun run = runLanes(0, 4, body, nullptr, 1);
  CHECK(run.at(0, 0) == 0);
  CHECK(run.at(0, 1) == 1);
  CHECK(run.at(0, 2) == 1);
  CHECK(run.at(0, 3) == 0);
}

TEST_CASE("every form of inline PTX has a function") {
  for (const compiler::InlinePtxForm& form : compiler::inlinePtxForms())
    CHECK_MESSAGE(findInlineForm(form.name) != nullptr, form.name);
}

TEST_CASE("inline PTX: loads, stores, lop3, cp.async with a hint") {
  const std::string body =
      std::string(kAddresses) +
      "%v = llvm.inline_asm asm_dialect = att \"ld.global.nc.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];\", \"=r,=r,=r,=r,l\" "
      "%g : (!llvm.ptr<1>) -> "
      "!llvm.struct<(i32, i32, i32, i32)>\n"
      "%v2 = llvm.extractvalue %v[2] : !llvm.struct<(i32, i32, i32, i32)>\n"
      "%r0 = llvm.or %v2, %c0 : i32\n"
      "%r1 = llvm.inline_asm asm_dialect = att \"lop3.b32 $0, $1, $2, $3, $4;\", \"=r,r,r,r,n\" %a0, %a1, %a2, %table : (i32, "
      "i32, i32, i32) -> i32\n"
      "%policy = llvm.inline_asm asm_dialect = att \"createpolicy.fractional.L2::evict_first.b64 $0, 1.0;\", \"=l\" : () -> i64\n"
      "%sa = llvm.ptrtoint %p : !llvm.ptr<3> to i32\n"
      "llvm.inline_asm has_side_effects asm_dialect = att \"cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2, $3;\", "
      "\"r,l,r,l,~{memory}\" %sa, %g, %c16, %policy : "
      "(i32, !llvm.ptr<1>, i32, i64) -> ()\n"
      "nvvm.cp.async.commit.group\nnvvm.cp.async.wait.group 0\n"
      "%p3 = llvm.getelementptr %p[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n%r2 = llvm.load %p3 : !llvm.ptr<3> -> i32\n";
  const LaneRun run = runLanes(4, 3, "%table = llvm.mlir.constant(0x96 : i32) : i32\n" + body, scramble);
  for (int t = 0; t < 32; t++) {
    CHECK(run.at(t, 0) == run.given(t, 2));
    CHECK(run.at(t, 1) == (run.given(t, 0) ^ run.given(t, 1) ^ run.given(t, 2)));  // 0x96: parity
    CHECK(run.at(t, 2) == run.given(t, 3));
  }
}

TEST_CASE("what the emulator does not know is refused by name") {
  struct Case {
    const char *body, *name;
  };
  for (const Case& c : {Case{"nvvm.cluster.arrive", "barrier.cluster.arrive"},
                        Case{"%m = nvvm.mapa %in, %c0 : !llvm.ptr -> !llvm.ptr", "mapa"}}) {
    const auto program = tryLoadText(laneModule(0, 0, c.body), "sm_90a", false);
    REQUIRE(!program.ok());
    CHECK(program.diag().code == Code::kUnsupported);
    CHECK_MESSAGE(program.diag().what.find(c.name) != std::string::npos, program.diag().text());
    CHECK(program.diag().where.find("kernel.mlir") != std::string::npos);
  }
}
