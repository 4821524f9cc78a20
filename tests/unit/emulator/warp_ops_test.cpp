// Special registers, shuffles, votes, reductions, barriers: against values worked out from the PTX ISA.
#include <bit>

#include "tests/unit/emulator/lane_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

uint32_t scramble(int thread, int input = 0) {
  return static_cast<uint32_t>(thread * 2654435761u + input * 40503u) ^ 0x5A5A1234u;
}

}  // namespace

TEST_CASE("special registers") {
  std::string body;
  const char* names[] = {"tid.x", "ntid.x", "ctaid.x", "nctaid.x", "laneid", "warpid"};
  for (int i = 0; i < 6; i++) body += fmt::format("%r{} = nvvm.read.ptx.sreg.{} : i32\n", i, names[i]);
  const char* masks[] = {"eq", "le", "lt", "ge", "gt"};
  for (int i = 0; i < 5; i++) body += fmt::format("%r{} = nvvm.read.ptx.sreg.lanemask.{} : i32\n", 6 + i, masks[i]);
  const LaneRun run = runLanes(0, 11, body, nullptr, 96);
  for (int t = 0; t < 96; t++) {
    const uint32_t lane = static_cast<uint32_t>(t % 32), bit = 1u << lane;
    const uint32_t expected[] = {static_cast<uint32_t>(t),
                                 96,
                                 0,
                                 1,
                                 lane,
                                 static_cast<uint32_t>(t / 32),
                                 bit,
                                 bit * 2 - 1,
                                 bit - 1,
                                 ~(bit - 1),
                                 ~(bit * 2 - 1)};
    for (int i = 0; i < 11; i++) CHECK(run.at(t, i) == expected[i]);
  }
}

TEST_CASE("shfl.sync: four kinds, clamp and segments, predicate") {
  const std::string body =
      "%w8 = llvm.mlir.constant(6175 : i32) : i32\n"  // segments of 8: mask 24 << 8 | 31
      "%m5 = llvm.mlir.constant(5 : i32) : i32\n"
      "%r0 = nvvm.shfl.sync bfly %all, %a0, %m5, %c31 : i32 -> i32\n"
      "%r1 = nvvm.shfl.sync up %all, %a0, %c3, %c0 : i32 -> i32\n"
      "%r2 = nvvm.shfl.sync down %all, %a0, %c3, %w8 : i32 -> i32\n"
      "%r3 = nvvm.shfl.sync idx %all, %a0, %c2, %w8 : i32 -> i32\n"
      "%f = llvm.bitcast %a0 : i32 to f32\n"
      "%g = nvvm.shfl.sync bfly %all, %f, %c1, %c31 : f32 -> f32\n"
      "%r4 = llvm.bitcast %g : f32 to i32\n"
      "%p = nvvm.shfl.sync down %all, %a0, %c4, %c31 {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>\n"
      "%r5 = llvm.extractvalue %p[0] : !llvm.struct<(i32, i1)>\n"
      "%v = llvm.extractvalue %p[1] : !llvm.struct<(i32, i1)>\n"
      "%r6 = llvm.zext %v : i1 to i32\n";
  const LaneRun run = runLanes(1, 7, body, [](int t, int) { return scramble(t); });
  for (int lane = 0; lane < 32; lane++) {
    CHECK(run.at(lane, 0) == scramble(lane ^ 5));
    CHECK(run.at(lane, 1) == scramble(lane >= 3 ? lane - 3 : lane));
    CHECK(run.at(lane, 2) == scramble(lane % 8 + 3 < 8 ? lane + 3 : lane));
    CHECK(run.at(lane, 3) == scramble(lane / 8 * 8 + 2));
    CHECK(run.at(lane, 4) == scramble(lane ^ 1));
    CHECK(run.at(lane, 5) == scramble(lane < 28 ? lane + 4 : lane));
    CHECK(run.at(lane, 6) == (lane < 28 ? 1 : 0));
  }
}

TEST_CASE("vote.sync and match.sync") {
  const std::string body =
      "%bit = llvm.and %a0, %c1 : i32\n"
      "%odd = llvm.icmp \"eq\" %bit, %c1 : i32\n"
      "%yes = llvm.icmp \"eq\" %c1, %c1 : i32\n"
      "%r0 = nvvm.vote.sync ballot %all, %odd -> i32\n"
      "%any = nvvm.vote.sync any %all, %odd -> i1\n"
      "%r1 = llvm.zext %any : i1 to i32\n"
      "%every = nvvm.vote.sync all %all, %odd -> i1\n"
      "%r2 = llvm.zext %every : i1 to i32\n"
      "%uni = nvvm.vote.sync uni %all, %odd -> i1\n"
      "%r3 = llvm.zext %uni : i1 to i32\n"
      "%key = llvm.and %a0, %c3 : i32\n"
      "%r4 = nvvm.match.sync any %all, %key : i32 -> i32\n"
      "%same = nvvm.match.sync all %all, %c4 : i32 -> !llvm.struct<(i32, i1)>\n"
      "%r5 = llvm.extractvalue %same[0] : !llvm.struct<(i32, i1)>\n";
  const LaneRun run = runLanes(1, 6, body, [](int t, int) { return scramble(t) >> 7; });
  uint32_t odd = 0;
  for (int l = 0; l < 32; l++) odd |= (run.given(l) & 1) << l;
  for (int lane = 0; lane < 32; lane++) {
    CHECK(run.at(lane, 0) == odd);
    CHECK(run.at(lane, 1) == (odd != 0));
    CHECK(run.at(lane, 2) == (odd == 0xFFFFFFFF));
    CHECK(run.at(lane, 3) == (odd == 0 || odd == 0xFFFFFFFF));
    uint32_t same = 0;
    for (int l = 0; l < 32; l++) same |= ((run.given(l) & 3) == (run.given(lane) & 3) ? 1u : 0u) << l;
    CHECK(run.at(lane, 4) == same);
    CHECK(run.at(lane, 5) == 0xFFFFFFFF);
  }
}

TEST_CASE("redux.sync of integers") {
  const char* kinds[] = {"add", "umin", "umax", "min", "max", "and", "or", "xor"};
  std::string body;
  for (int i = 0; i < 8; i++) body += fmt::format("%r{} = nvvm.redux.sync {} %a0, %all : i32 -> i32\n", i, kinds[i]);
  const LaneRun run = runLanes(1, 8, body, [](int t, int) { return scramble(t); });
  uint32_t sum = 0, umin = ~0u, umax = 0, all = ~0u, any = 0, parity = 0;
  int32_t smin = INT32_MAX, smax = INT32_MIN;
  for (int l = 0; l < 32; l++) {
    const uint32_t x = run.given(l);
    sum += x, umin = std::min(umin, x), umax = std::max(umax, x), all &= x, any |= x, parity ^= x;
    smin = std::min(smin, static_cast<int32_t>(x)), smax = std::max(smax, static_cast<int32_t>(x));
  }
  const uint32_t expected[] = {sum, umin, umax, static_cast<uint32_t>(smin), static_cast<uint32_t>(smax), all, any, parity};
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 8; i++) CHECK(run.at(lane, i) == expected[i]);
}

TEST_CASE("elect.sync elects one lane of the mask") {
  const std::string body =
      "%e = nvvm.elect.sync -> i1\n"
      "%r0 = llvm.zext %e : i1 to i32\n";
  Kernel kernel{loadText(laneModule(0, 1, body)), 32, 0};
  std::vector<uint32_t> out(32), in(1);
  bool other_than_first = false;
  for (uint64_t seed = 0; seed < 8; seed++) {
    const EmulationReport report =
        run(kernel, 1, {slot(in.data()), slot(out.data())}, {input(in, "in"), output(out, "out")}, {.seed = seed});
    CHECK(report.clean());
    uint32_t elected = 0;
    for (uint32_t x : out) elected += x;
    CHECK(elected == 1);
    if (!out[0]) other_than_first = true;
  }
  CHECK(other_than_first);  // code must not assume lane 0
}

TEST_CASE("barriers: whole block, named, arrive and sync, reductions") {
  // Each thread passes a word to the one 32 further on, in three ways.
  const std::string body =
      "%n = llvm.mlir.constant(96 : i32) : i32\n"
      "%off = llvm.add %tid, %c31 : i32\n"
      "%off1 = llvm.add %off, %c1 : i32\n"
      "%next = llvm.urem %off1, %n : i32\n"
      "%mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "%theirs = llvm.getelementptr %s[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "llvm.store %a0, %mine : i32, !llvm.ptr<3>\n"
      "nvvm.barrier0\n"
      "%r0 = llvm.load %theirs : !llvm.ptr<3> -> i32\n"
      "nvvm.barrier id = %c3 number_of_threads = %n\n"
      "%not = llvm.xor %a0, %all : i32\n"
      "llvm.store %not, %mine : i32, !llvm.ptr<3>\n"
      "nvvm.barrier id = %c2 number_of_threads = %n\n"
      "%r1 = llvm.load %theirs : !llvm.ptr<3> -> i32\n"
      "%bit = llvm.and %a0, %c1 : i32\n"
      "%r2 = nvvm.barrier #nvvm.reduction<popc> %bit -> i32\n"
      "%r3 = nvvm.barrier #nvvm.reduction<and> %bit -> i32\n"
      "%r4 = nvvm.barrier #nvvm.reduction<or> %bit -> i32\n";
  const LaneRun run = runLanes(1, 5, body, [](int t, int) { return scramble(t) >> 3; }, 96);
  uint32_t odd = 0;
  for (int t = 0; t < 96; t++) odd += run.given(t) & 1;
  for (int t = 0; t < 96; t++) {
    const uint32_t other = run.given((t + 32) % 96);
    CHECK(run.at(t, 0) == other);
    CHECK(run.at(t, 1) == ~other);
    CHECK(run.at(t, 2) == odd);
    CHECK((run.at(t, 3) & 1) == (odd == 96));
    CHECK((run.at(t, 4) & 1) == (odd != 0));
  }
}

TEST_CASE("bar.arrive: a producer goes on, a consumer waits") {
  const std::string body =
      "%lane = nvvm.read.ptx.sreg.laneid : i32\n"
      "%warp = nvvm.read.ptx.sreg.warpid : i32\n"
      "%p = llvm.getelementptr %s[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "%first = llvm.icmp \"eq\" %warp, %c0 : i32\n"
      "llvm.cond_br %first, ^produce, ^consume\n"
      "^produce:\n"
      "llvm.store %a0, %p : i32, !llvm.ptr<3>\n"
      "nvvm.barrier.arrive id = %a1 number_of_threads = %a2\n"
      "llvm.br ^join(%c0 : i32)\n"
      "^consume:\n"
      "nvvm.barrier id = %a1 number_of_threads = %a2\n"
      "%v = llvm.load %p : !llvm.ptr<3> -> i32\n"
      "llvm.br ^join(%v : i32)\n"
      "^join(%r0: i32):\n";
  const LaneRun run = runLanes(3, 1, body, [](int t, int i) { return i == 0 ? scramble(t) : i == 1 ? 1u : 64u; }, 64);
  for (int lane = 0; lane < 32; lane++) {
    CHECK(run.at(lane) == 0);
    CHECK(run.at(32 + lane) == scramble(lane));
  }
}

TEST_CASE("bar.warp.sync orders the lanes of a warp") {
  const std::string body =
      "%o = llvm.xor %tid, %c31 : i32\n"
      "%mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "%theirs = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
      "llvm.store %a0, %mine : i32, !llvm.ptr<3>\n"
      "nvvm.bar.warp.sync %all : i32\n"
      "%r0 = llvm.load %theirs : !llvm.ptr<3> -> i32\n";
  const LaneRun run = runLanes(1, 1, body, [](int t, int) { return scramble(t); });
  for (int lane = 0; lane < 32; lane++) CHECK(run.at(lane) == scramble(lane ^ 31));
}

TEST_CASE("hints, griddepcontrol and fences have no effect on values") {
  const std::string body =
      "%r0 = llvm.or %c0, %all : i32\n"
      "nvvm.griddepcontrol wait\n"
      "nvvm.griddepcontrol launch_dependents\n"
      "nvvm.nanosleep %c1\n"
      "nvvm.memory.barrier #nvvm.mem_scope<gpu>\n"
      "nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}\n"
      "%g = llvm.addrspacecast %in : !llvm.ptr to !llvm.ptr<1>\n"
      "nvvm.prefetch level = L2, %g : !llvm.ptr<1>\n"
      "nvvm.prefetch level = L1, %in : !llvm.ptr\n";
  const LaneRun run = runLanes(0, 1, body, nullptr);
  for (int lane = 0; lane < 32; lane++) CHECK(run.at(lane) == 0xFFFFFFFF);
}

TEST_CASE("lanes of different branches and loop lengths meet again") {
  // Each lane counts up to its own word, then all shuffle: this needs reconvergence after the loop.
  const std::string body =
      "llvm.br ^loop(%c0, %c0 : i32, i32)\n"
      "^loop(%i: i32, %sum: i32):\n"
      "%more = llvm.icmp \"ult\" %i, %a0 : i32\n"
      "llvm.cond_br %more, ^body, ^done\n"
      "^body:\n"
      "%bit = llvm.and %i, %c1 : i32\n"
      "%odd = llvm.icmp \"eq\" %bit, %c1 : i32\n"
      "llvm.cond_br %odd, ^add1, ^add2\n"
      "^add1:\n"
      "%s1 = llvm.add %sum, %c1 : i32\n"
      "llvm.br ^next(%s1 : i32)\n"
      "^add2:\n"
      "%s2 = llvm.add %sum, %c16 : i32\n"
      "llvm.br ^next(%s2 : i32)\n"
      "^next(%s3: i32):\n"
      "%i1 = llvm.add %i, %c1 : i32\n"
      "llvm.br ^loop(%i1, %s3 : i32, i32)\n"
      "^done:\n"
      "%r0 = nvvm.shfl.sync bfly %all, %sum, %c1, %c31 : i32 -> i32\n";
  const LaneRun run = runLanes(1, 1, body, [](int t, int) { return static_cast<uint32_t>(t * 7 % 13); });
  for (int lane = 0; lane < 32; lane++) {
    const uint32_t n = run.given(lane ^ 1);
    CHECK(run.at(lane) == n / 2 + (n + 1) / 2 * 16);
  }
}
