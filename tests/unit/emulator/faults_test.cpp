// Planted faults: each kernel is clean as it stands, one edit breaks it, and the emulator must say so, in the right way, with
// every seed or at least with one of a few (a fault that shows in one order only).
#include "tests/unit/emulator/lane_kernel.h"
#include "tests/unit/emulator/ring_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  REQUIRE_MESSAGE(at != std::string::npos, what);
  return text.replace(at, what.size(), with);
}

struct Kit {
  std::string body;
  int inputs = 1, outputs = 1, threads = 64;
  int shared_bytes = 16384;
  int64_t blocks = 1;
  int missing_out_bytes = 0, missing_in_bytes = 0;
  int extra_out_words = 0;
  bool writable = true;
  std::string target = "sm_120a";
  bool optimise = true;
};

constexpr uint64_t kSeeds = 6;

std::vector<EmulationReport> runAll(const Kit& kit) {
  std::vector<uint32_t> in(static_cast<size_t>(kit.threads * kit.inputs)),
      out(static_cast<size_t>(kit.threads * kit.outputs + kit.extra_out_words));
  for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<uint32_t>(i * 2654435761u);
  Kernel kernel{loadText(laneModule(kit.inputs, kit.outputs, kit.body), kit.target, kit.optimise), kit.threads, kit.shared_bytes};
  std::vector<EmulationReport> reports;
  for (uint64_t seed = 0; seed < kSeeds; seed++) {
    EmulatorBuffer a = input(in, "in"), b = output(out, "out");
    a.bytes -= static_cast<size_t>(kit.missing_in_bytes);
    b.bytes -= static_cast<size_t>(kit.missing_out_bytes);
    b.writable = kit.writable;
    reports.push_back(run(kernel, kit.blocks, {slot(in.data()), slot(out.data())}, {a, b}, {.seed = seed, .workers = 1}));
  }
  return reports;
}

void checkClean(const Kit& kit) {
  for (const EmulationReport& report : runAll(kit)) CHECK_MESSAGE(report.clean(), report.text());
}

// Some seed finds one of the kinds; the finding names an op, a block and a line of the text.
void checkFound(const Kit& kit, std::initializer_list<FindingKind> kinds) {
  std::string texts;
  for (const EmulationReport& report : runAll(kit)) {
    texts += report.text() + "\n";
    for (const Finding& finding : report.findings) {
      for (FindingKind kind : kinds) {
        if (finding.kind != kind) continue;
        CHECK(finding.place.block >= 0);
        CHECK_MESSAGE(!finding.place.op.empty(), finding.text());
        CHECK_MESSAGE(finding.place.line.file.find("kernel.mlir") != std::string::npos, finding.text());
        return;
      }
    }
  }
  FAIL("not found: ", texts);
}

using enum FindingKind;

const std::string kExchange =
    "%o = llvm.add %tid, %c31 : i32\n%o1 = llvm.add %o, %c1 : i32\n%n = llvm.mlir.constant(64 : i32) : i32\n%other = llvm.urem "
    "%o1, %n : i32\n"
    "%mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
    "%theirs = llvm.getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n"
    "llvm.store %a0, %mine : i32, !llvm.ptr<3>\n"
    "nvvm.barrier0\n"
    "%r0 = llvm.load %theirs : !llvm.ptr<3> -> i32\n";

}  // namespace

TEST_CASE("shared memory between warps") {
  checkClean({kExchange});
  SUBCASE("a removed barrier") { checkFound({replaced(kExchange, "nvvm.barrier0\n", "")}, {kRace, kUninitialised}); }
  SUBCASE("a warp sync where a block barrier is needed") {
    checkFound({replaced(kExchange, "nvvm.barrier0", "nvvm.bar.warp.sync %all : i32")}, {kRace});
  }
  SUBCASE("a named barrier for too few threads") {
    checkFound({replaced(kExchange, "nvvm.barrier0",
                         "%few = llvm.mlir.constant(32 : i32) : i32\nnvvm.barrier id = %c1 number_of_threads = %few")},
               {kRace});
  }
  SUBCASE("a named barrier for too many threads") {
    checkFound({replaced(kExchange, "nvvm.barrier0",
                         "%many = llvm.mlir.constant(96 : i32) : i32\nnvvm.barrier id = %c1 number_of_threads = %many")},
               {kBarrier});
  }
  SUBCASE("a barrier that one warp leaves out") {
    checkFound({replaced(kExchange, "nvvm.barrier0\n",
                         "%w = nvvm.read.ptx.sreg.warpid : i32\n%z = llvm.icmp \"eq\" %w, %c0 : i32\nllvm.cond_br %z, ^sync, "
                         "^after\n^sync:\nnvvm.barrier0\nllvm.br ^after\n^after:\n")},
               {kDeadlock});
  }
  SUBCASE("too little shared memory") {
    Kit kit{kExchange};
    kit.shared_bytes = 252;
    checkFound(kit, {kOutOfBounds});
  }
  SUBCASE("one element too far") {
    checkFound({replaced(kExchange, "getelementptr %s[%other]", "getelementptr %s[%o1]")}, {kUninitialised});
  }
  SUBCASE("a word at a byte address") {
    checkFound({replaced(kExchange, "getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32",
                         "getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8")},
               {kMisaligned});
  }
  SUBCASE("two lanes write different values to one place") {
    checkFound({replaced(kExchange, "getelementptr %s[%tid]", "getelementptr %s[%c0]")}, {kRace});
  }
  SUBCASE("write after read without a barrier") {
    checkClean({kExchange + "nvvm.barrier0\nllvm.store %r0, %mine : i32, !llvm.ptr<3>\n"});
    checkFound({kExchange + "llvm.store %r0, %mine : i32, !llvm.ptr<3>\n"}, {kRace});
  }
}

TEST_CASE("global memory") {
  const std::string copy = "%r0 = llvm.add %a0, %c1 : i32\n";
  checkClean({copy});
  SUBCASE("a buffer that is too small for the tail") {
    Kit kit{copy};
    kit.missing_out_bytes = 4;
    checkFound(kit, {kOutOfBounds});
  }
  SUBCASE("an off-by-one in the tail") {
    checkFound({"%p1 = llvm.getelementptr %p_in[1] : (!llvm.ptr) -> !llvm.ptr, i32\n%r0 = llvm.load %p1 : !llvm.ptr -> i32\n"},
               {kOutOfBounds});
  }
  SUBCASE("a negative index") {
    checkFound({"%p1 = llvm.getelementptr %p_in[-1] : (!llvm.ptr) -> !llvm.ptr, i32\n%r0 = llvm.load %p1 : !llvm.ptr -> i32\n"},
               {kOutOfBounds});
  }
  SUBCASE("a store to an input") {
    Kit kit{copy};
    kit.writable = false;
    checkFound(kit, {kReadOnly});
  }
  SUBCASE("two blocks write one place") {
    Kit kit{copy};
    kit.blocks = 2;
    checkFound(kit, {kRace});
  }
  SUBCASE("a plain counter shared by blocks") {
    const std::string atomic =
        "%b = nvvm.read.ptx.sreg.ctaid.x : i32\n%first = llvm.icmp \"eq\" %tid, %c0 : i32\n%g = llvm.addrspacecast %out : "
        "!llvm.ptr to !llvm.ptr<1>\nllvm.cond_br %first, ^go, ^end\n^go:\n";
    const std::string end = "llvm.br ^end\n^end:\n";
    Kit kit{atomic + "%x = llvm.atomicrmw add %g, %c1 syncscope(\"device\") acq_rel : !llvm.ptr<1>, i32\n" + end};
    kit.outputs = 0;
    kit.extra_out_words = 1;
    kit.blocks = 3;
    checkClean(kit);
    kit.body = atomic +
               "%x = llvm.load %g : !llvm.ptr<1> -> i32\n%y = llvm.add %x, %c1 : i32\nllvm.store %y, %g : i32, !llvm.ptr<1>\n" +
               end;
    checkFound(kit, {kRace});
  }
}

TEST_CASE("collectives") {
  const std::string shuffle =
      "%odd = llvm.and %tid, %c1 : i32\n%is_odd = llvm.icmp \"eq\" %odd, %c1 : i32\n%r0 = nvvm.shfl.sync bfly %all, %a0, %c1, "
      "%c31 : i32 -> i32\n";
  checkClean({shuffle});
  SUBCASE("a shuffle in a branch that half the lanes take") {
    checkFound({"%odd = llvm.and %tid, %c1 : i32\n%is_odd = llvm.icmp \"eq\" %odd, %c1 : i32\nllvm.cond_br %is_odd, ^yes, "
                "^join(%c0 : i32)\n^yes:\n"
                "%x = nvvm.shfl.sync bfly %all, %a0, %c2, %c31 : i32 -> i32\nllvm.br ^join(%x : i32)\n^join(%r0: i32):\n"},
               {kDivergence});
  }
  SUBCASE("a shuffle after lanes have left") {
    checkFound({"%odd = llvm.and %tid, %c1 : i32\n%is_odd = llvm.icmp \"eq\" %odd, %c1 : i32\nllvm.cond_br %is_odd, ^out, "
                "^stay\n^out:\nllvm.return\n^stay:\n"
                "%r0 = nvvm.shfl.sync bfly %all, %a0, %c2, %c31 : i32 -> i32\n"},
               {kDivergence});
  }
  SUBCASE("a shuffle from a lane outside the mask") {
    checkFound({"%even = llvm.mlir.constant(0x55555555 : i32) : i32\n%odd = llvm.and %tid, %c1 : i32\n%is_odd = llvm.icmp \"eq\" "
                "%odd, %c1 : i32\nllvm.cond_br %is_odd, ^join(%c0 : i32), ^yes\n^yes:\n"
                "%x = nvvm.shfl.sync bfly %even, %a0, %c1, %c31 : i32 -> i32\nllvm.br ^join(%x : i32)\n^join(%r0: i32):\n"},
               {kDivergence});
  }
  SUBCASE("a ballot with a mask that leaves the caller out") {
    checkFound({"%even = llvm.mlir.constant(0x55555555 : i32) : i32\n%yes = llvm.icmp \"eq\" %c1, %c1 : i32\n%r0 = "
                "nvvm.vote.sync ballot %even, %yes -> i32\n"},
               {kDivergence});
  }
  SUBCASE("lanes of one warp at two barriers") {
    checkFound(
        {"%odd = llvm.and %tid, %c1 : i32\n%is_odd = llvm.icmp \"eq\" %odd, %c1 : i32\nllvm.cond_br %is_odd, ^a, ^b\n"
         "^a:\nnvvm.barrier0\nllvm.store %c1, %out : i32, !llvm.ptr\nllvm.br ^join\n^b:\n%n = llvm.mlir.constant(64 : i32) : "
         "i32\nnvvm.barrier id = %c2 number_of_threads = %n\nllvm.br ^join\n^join:\n%r0 = llvm.add %a0, %c1 : i32\n"},
        {kDivergence, kDeadlock});
  }
}

TEST_CASE("cp.async") {
  const std::string row =
      "%g = llvm.addrspacecast %p_in : !llvm.ptr to !llvm.ptr<1>\n%row_bytes = llvm.mlir.constant(16 : i32) : i32\n%at = "
      "llvm.mul %tid, %row_bytes : i32\n"
      "%p = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n"
      "nvvm.cp.async.shared.global %p, %g, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>\n"
      "nvvm.cp.async.commit.group\n"
      "nvvm.cp.async.wait.group 0\n"
      "nvvm.barrier0\n"
      "%o = llvm.xor %at, %c16 : i32\n%q = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n%r0 = llvm.load "
      "%q : !llvm.ptr<3> -> i32\n";
  Kit kit{row, 4};
  checkClean(kit);
  auto with = [&](const std::string& what, const std::string& by) {
    Kit broken = kit;
    broken.body = replaced(row, what, by);
    return broken;
  };
  SUBCASE("a missing wait") { checkFound(with("nvvm.cp.async.wait.group 0\n", ""), {kPendingCopy}); }
  SUBCASE("a wait that leaves one group") {
    checkFound(with("nvvm.cp.async.wait.group 0\n", "nvvm.cp.async.wait.group 1\n"), {kPendingCopy});
  }
  SUBCASE("a missing commit") { checkFound(with("nvvm.cp.async.commit.group\n", ""), {kPendingCopy}); }
  SUBCASE("a wait without a barrier") { checkFound(with("nvvm.barrier0\n", ""), {kPendingCopy, kUninitialised}); }
  SUBCASE("a source past its buffer") {
    Kit broken = kit;
    broken.missing_in_bytes = 4;
    checkFound(broken, {kOutOfBounds});
  }
  SUBCASE("rows that overlap") {
    checkFound(with("%row_bytes = llvm.mlir.constant(16", "%row_bytes = llvm.mlir.constant(0"), {kPendingCopy, kRace});
  }
  SUBCASE("a misaligned row") { checkFound(with("getelementptr %s[%at]", "getelementptr %s[%tid]"), {kMisaligned}); }
}

TEST_CASE("a ring of bulk copies") {
  Kit kit{kRingBody, 4};
  checkClean(kit);
  auto with = [&](const std::string& what, const std::string& by) {
    Kit broken = kit;
    broken.body = replaced(kRingBody, what, by);
    return broken;
  };
  SUBCASE("the consumer waits one phase off") {
    checkFound(with("try_wait %ufb, %uphase", "try_wait %ufb, %c1"), {kPendingCopy, kUninitialised});
  }
  SUBCASE("the consumer does not wait") {
    checkFound(with("llvm.cond_br %there, ^read, ^wait", "llvm.br ^read"), {kPendingCopy, kUninitialised});
  }
  SUBCASE("the consumer waits for the other slot") {
    checkFound(with("%there = nvvm.mbarrier.try_wait %ufb",
                    "%oslot = llvm.xor %uslot, %c1 : i32\n%ofb = llvm.getelementptr %full[%oslot] : (!llvm.ptr<3>, i32) -> "
                    "!llvm.ptr<3>, i64\n%there = nvvm.mbarrier.try_wait %ofb"),
               {kPendingCopy, kUninitialised});
  }
  SUBCASE("the producer's parity is not turned") {
    checkFound(with("llvm.xor %phase0, %c1", "llvm.xor %phase0, %c0"), {kDeadlock});
  }
  SUBCASE("the producer does not wait for an empty slot") {
    checkFound(with("llvm.cond_br %free, ^issue, ^acquire", "llvm.br ^issue"), {kRace, kPendingCopy, kMbarrier});
  }
  SUBCASE("a bulk copy past its row") {
    checkFound(with("%copied = llvm.mlir.constant(256", "%copied = llvm.mlir.constant(272"), {kPendingCopy, kRace, kMbarrier});
  }
  SUBCASE("fewer bytes expected than copied") {
    checkFound(with("%expected = llvm.mlir.constant(256", "%expected = llvm.mlir.constant(240"), {kMbarrier, kDeadlock});
  }
  SUBCASE("more bytes expected than copied") {
    checkFound(with("%expected = llvm.mlir.constant(256", "%expected = llvm.mlir.constant(272"), {kDeadlock});
  }
  SUBCASE("a size that is no multiple of 16") {
    checkFound(with("%copied = llvm.mlir.constant(256", "%copied = llvm.mlir.constant(250"), {kMisaligned});
  }
  SUBCASE("no release") { checkFound(with("%rs = nvvm.mbarrier.arrive %ueb : !llvm.ptr<3> -> i64\n", ""), {kDeadlock}); }
  SUBCASE("a release before the other lanes have read") { checkFound(with("nvvm.bar.warp.sync %all : i32\n", ""), {kRace}); }
  SUBCASE("every lane releases a barrier that counts one") {
    checkFound(with("llvm.cond_br %first_lane, ^release, ^used", "llvm.br ^release"), {kRace, kMbarrier, kDeadlock});
  }
  SUBCASE("a barrier that counts an arrival too many") {
    checkFound(with("nvvm.mbarrier.init %full, %c1", "nvvm.mbarrier.init %full, %c2"), {kDeadlock});
  }
  SUBCASE("initialisation without a fence") { checkFound(with("nvvm.fence.mbarrier.init\n", ""), {kMissingProxyFence}); }
  SUBCASE("initialisation without a barrier") { checkFound(with("nvvm.barrier0\n", ""), {kMbarrier, kRace}); }
  SUBCASE("an mbarrier overwritten by data") { checkFound(with("getelementptr %s[1040]", "getelementptr %s[496]"), {kMbarrier}); }
  SUBCASE("a row past the pool") {
    Kit broken = kit;
    broken.missing_in_bytes = 16;
    checkFound(broken, {kOutOfBounds});
  }
  SUBCASE("the last copy is awaited by nobody") {
    checkFound(with("%again = llvm.icmp \"ult\" %j, %c4", "%again = llvm.icmp \"ult\" %j, %c3"), {kPendingCopy});
  }
  SUBCASE("plain stores to a slot without a proxy fence") {
    // The producer clears a slot before it is filled; all lanes, hence the warp sync.
    const std::string clear =
        "^issue:\n%clear_off = llvm.mul %slot, %row : i32\n%clear = llvm.getelementptr %s[%clear_off] : (!llvm.ptr<3>, i32) -> "
        "!llvm.ptr<3>, i8\n"
        "%clear_word = llvm.getelementptr %clear[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\nllvm.store %c0, %clear_word "
        ": i32, !llvm.ptr<3>\n";
    const std::string fence = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n",
                      sync = "nvvm.bar.warp.sync %all : i32\n";
    checkClean(with("^issue:\n", clear + fence + sync));
    checkFound(with("^issue:\n", clear + sync), {kMissingProxyFence});
    checkFound(with("^issue:\n", clear + fence), {kRace});
  }
}

TEST_CASE("a waiter that falls two phases behind") {
  // Warp 0 arrives twice; warp 1 waits for the first phase only after the second is over, which a barrier makes certain.
  const std::string body =
      "%bar = llvm.getelementptr %s[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n%w = nvvm.read.ptx.sreg.warpid : i32\n%leader = "
      "llvm.icmp \"eq\" %tid, %c0 : i32\n"
      "llvm.cond_br %leader, ^init, ^ready\n^init:\nnvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32\nllvm.br "
      "^ready\n^ready:\nnvvm.barrier0\n"
      "llvm.cond_br %leader, ^arrive, ^wait_or_end\n"
      "^arrive:\n%x = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64\nllvm.br ^second\n"
      "^second:\n%y = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64\nllvm.br ^end\n"
      "^wait_or_end:\n%one = llvm.icmp \"eq\" %w, %c1 : i32\nllvm.cond_br %one, ^wait, ^end\n"
      "^wait:\n%ok = nvvm.mbarrier.try_wait %bar, %c0 : !llvm.ptr<3>, i32 -> i1\nllvm.cond_br %ok, ^end, ^wait\n^end:\n%r0 = "
      "llvm.add %a0, %c0 : i32\n";
  checkFound({body}, {kMbarrier});
  checkClean({replaced(body, "%y = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64\n", "")});
}

TEST_CASE("bulk stores") {
  const std::string body =
      "%g = llvm.addrspacecast %out : !llvm.ptr to !llvm.ptr<1>\n%mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> "
      "!llvm.ptr<3>, i32\n"
      "llvm.store %a0, %mine : i32, !llvm.ptr<3>\n"
      "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n"
      "nvvm.barrier0\n"
      "%bytes = llvm.mlir.constant(256 : i32) : i32\n%leader = llvm.icmp \"eq\" %tid, %c0 : i32\nllvm.cond_br %leader, ^store, "
      "^done\n"
      "^store:\nnvvm.cp.async.bulk.global.shared.cta %g, %s, %bytes : !llvm.ptr<1>, "
      "!llvm.ptr<3>\nnvvm.cp.async.bulk.commit.group\n"
      "nvvm.cp.async.bulk.wait_group 0\nllvm.store %c1, %mine : i32, !llvm.ptr<3>\nllvm.br ^done\n^done:\n";
  Kit kit{body, 1, 0};
  kit.extra_out_words = 64;
  checkClean(kit);
  SUBCASE("no proxy fence") {
    kit.body = replaced(body, "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n", "");
    checkFound(kit, {kMissingProxyFence});
  }
  SUBCASE("shared memory is reused before the store has read it") {
    kit.body = replaced(body, "nvvm.cp.async.bulk.wait_group 0\n", "");
    checkFound(kit, {kRace});
  }
}

TEST_CASE("a loop that polls memory which nobody writes") {
  const std::string body =
      "llvm.br ^poll\n^poll:\n%x = llvm.load volatile %p_in : !llvm.ptr -> i32\n%no = llvm.icmp \"eq\" %x, %c0 : i32\n"
      "llvm.cond_br %no, ^poll, ^end\n^end:\n%r0 = llvm.add %a0, %c0 : i32\n";
  const Kernel kernel{loadText(laneModule(1, 1, body)), 32, 0};
  std::vector<uint32_t> in(32), out(32);
  const EmulationReport report =
      run(kernel, 1, {slot(in.data()), slot(out.data())}, {input(in, "in"), output(out, "out")}, {.max_warp_ops = 100000});
  CHECK_MESSAGE(finds(report, FindingKind::kEndless), report.text());
}

TEST_CASE("setmaxnreg") {
  const auto module = [](const std::string& dec, const std::string& inc) {
    return "%w = nvvm.read.ptx.sreg.warpid : i32\n%load = llvm.icmp \"ult\" %w, %c4 : i32\nllvm.cond_br %load, ^a, ^b\n^a:\n" +
           dec + "llvm.br ^end\n^b:\n" + inc + "llvm.br ^end\n^end:\n%r0 = llvm.add %a0, %c0 : i32\n";
  };
  const std::string dec = "nvvm.setmaxregister decrease 40\n", inc = "nvvm.setmaxregister increase 216\n";
  const auto check = [&](const std::string& body, std::initializer_list<FindingKind> kinds) {
    std::vector<uint32_t> in(256), out(256);
    const std::string text = replaced(laneModule(1, 1, body), "nvvm.kernel}",
                                      "nvvm.kernel, nvvm.maxnreg = 128 : i32, nvvm.maxntid = array<i32: 256>}");
    Kernel kernel{loadText(text), 256, 0};
    bool found = kinds.size() == 0;
    for (uint64_t seed = 0; seed < kSeeds; seed++) {
      const EmulationReport report =
          run(kernel, 1, {slot(in.data()), slot(out.data())}, {input(in, "in"), output(out, "out")}, {.seed = seed});
      if (kinds.size() == 0) CHECK_MESSAGE(report.clean(), report.text());
      for (FindingKind kind : kinds) found |= finds(report, kind);
    }
    CHECK(found);
  };
  check(module(dec, inc), {});
  SUBCASE("nobody gives registers back") { check(module("", inc), {kDeadlock}); }
  SUBCASE("more than there are") { check(module(dec, "nvvm.setmaxregister increase 224\n"), {kDeadlock}); }
  SUBCASE("warps of one group disagree") {
    check("%w = nvvm.read.ptx.sreg.warpid : i32\n%load = llvm.icmp \"ult\" %w, %c2 : i32\nllvm.cond_br %load, ^a, ^b\n^a:\n" +
              dec + "llvm.br ^end\n^b:\nnvvm.setmaxregister decrease 48\nllvm.br ^end\n^end:\n%r0 = llvm.add %a0, %c0 : i32\n",
          {kRegisters});
  }
  SUBCASE("an increase below the present count") { check(module(dec, "nvvm.setmaxregister increase 64\n"), {kRegisters}); }
}

TEST_CASE("a wrong fragment index shows in the result") {
  // Row r of A picks row r + 8 of B, and for r ≥ 8 twice row r - 8; the fault swaps two registers of A's fragment.
  const auto body = [](const char* order) {
    return fmt::format(
        "%b0 = llvm.bitcast %a4 : i32 to i32\n"
        "%d = nvvm.mma.sync A[{}] B[%a4, %a5] C[%z, %z, %z, %z] {{layoutA = #nvvm.mma_layout<row>, layoutB = "
        "#nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, "
        "multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}} : (i32, i32, f32) -> "
        "!llvm.struct<(f32, f32, f32, f32)>\n"
        "%d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>\n%r0 = llvm.bitcast %d0 : f32 to i32\n",
        order);
  };
  const auto value = [](int t, int i) -> uint32_t {
    const int row = t / 4 + 8 * (i & 1), k = t % 4 * 2 + 8 * (i >> 1);
    const uint32_t one = 0x3F80, two = 0x4000, x = row < 8 ? one : two;
    if (i < 4) return ((row + 8) % 16 == k ? x : 0u) | ((row + 8) % 16 == k + 1 ? x << 16 : 0u);
    const int bk = t % 4 * 2 + 8 * (i - 4);
    return (bitsOf(static_cast<float>(bk * 8 + t / 4)) >> 16) | (bitsOf(static_cast<float>((bk + 1) * 8 + t / 4)) & 0xFFFF0000u);
  };
  const std::string zero = "%z = llvm.mlir.constant(0.0 : f32) : f32\n";
  int right = 0, wrong = 0;
  const LaneRun good = runLanes(6, 1, zero + body("%a0, %a1, %a2, %a3"), value),
                bad = runLanes(6, 1, zero + body("%a0, %a2, %a1, %a3"), value);
  for (int t = 0; t < 32; t++) {
    const float expected = static_cast<float>((t / 4 + 8) * 8 + t % 4 * 2);
    right += floatOf(good.at(t)) == expected;
    wrong += floatOf(bad.at(t)) != expected;
  }
  CHECK(right == 32);
  CHECK(wrong > 0);
}
