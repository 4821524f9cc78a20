// The interface: launches that do not fit a program are errors, findings are reported with their texts and limits.
#include "tests/unit/emulator/lane_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

const char* const kCopy = "%r0 = llvm.add %a0, %c1 : i32\n";

}  // namespace

TEST_CASE("a launch that does not fit is a usage error") {
  const auto program = loadText(laneModule(1, 1, kCopy));
  std::vector<uint32_t> in(32), out(32);
  const std::vector<ArgSlot> args = {slot(in.data()), slot(out.data())};
  const auto fails = [&](EmulatorLaunch launch, std::vector<EmulatorBuffer> buffers = {}) {
    const auto report = emulate(*program, launch, std::move(buffers));
    return !report.ok() && report.diag().code == Code::kUsage && !report.diag().fix.empty();
  };
  CHECK(fails({1, 32, 0, {args[0]}}));
  CHECK(fails({1, 0, 0, args}));
  CHECK(fails({1, 2048, 0, args}));
  CHECK(fails({-1, 32, 0, args}));
  CHECK(fails({1, 32, -4, args}));
  CHECK(fails({1, 32, 0, args}, {{nullptr, 16, false, "none"}}));
  CHECK(emulate(*program, {0, 32, 0, args}, {}).ok());
}

TEST_CASE("a launch of more threads than the kernel was built for") {
  std::string text = laneModule(1, 1, kCopy);
  text.replace(text.find("nvvm.kernel}"), 12, "nvvm.kernel, nvvm.maxntid = array<i32: 64>}");
  const auto program = loadText(text);
  std::vector<uint32_t> in(128), out(128);
  CHECK(emulate(*program, {1, 64, 0, {slot(in.data()), slot(out.data())}}, {input(in, "in"), output(out, "out")}).ok());
  CHECK(!emulate(*program, {1, 128, 0, {slot(in.data()), slot(out.data())}}, {input(in, "in"), output(out, "out")}).ok());
}

TEST_CASE("a null pointer is out of bounds where it is used, not before") {
  const Kernel kernel{loadText(laneModule(0, 1, "%r0 = llvm.add %c1, %c1 : i32\n")), 32, 0};
  std::vector<uint32_t> out(32);
  CHECK(run(kernel, 1, {slot(static_cast<void*>(nullptr)), slot(out.data())}, {output(out, "out")}).clean());
  CHECK(out[5] == 2);
  const EmulationReport report = run(kernel, 1, {slot(out.data()), slot(static_cast<void*>(nullptr))}, {output(out, "out")});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].kind == FindingKind::kOutOfBounds);
  CHECK(report.findings[0].count == 32);
}

TEST_CASE("a finding names block, thread, op, line and buffer; equal ones are counted") {
  const Kernel kernel{loadText(laneModule(1, 1, kCopy)), 32, 0};
  std::vector<uint32_t> in(32), out(32);
  EmulatorBuffer small = output(out, "result");
  small.bytes -= 8;
  const EmulationReport report = run(kernel, 1, {slot(in.data()), slot(out.data())}, {input(in, "in"), small});
  REQUIRE(report.findings.size() == 1);
  const std::string text = report.findings[0].text();
  for (const char* part : {"out of bounds", "thread 30 (warp 0, lane 30) of block 0", "st.b32",
                           "kernel.mlir:", "past the end of 'result' (120 bytes)", "[2 times]"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  CHECK(report.text().find("1 findings in 1 blocks") != std::string::npos);
}

TEST_CASE("red zones: buffers that touch in the caller's memory do not touch in the kernel's") {
  std::vector<uint32_t> both(64);
  const Kernel kernel{
      loadText(laneModule(
          1, 1, "%p1 = llvm.getelementptr %p_in[32] : (!llvm.ptr) -> !llvm.ptr, i32\n%r0 = llvm.load %p1 : !llvm.ptr -> i32\n")),
      32, 0};
  std::vector<uint32_t> out(32);
  const EmulationReport report =
      run(kernel, 1, {slot(both.data()), slot(out.data())},
          {{both.data(), 128, false, "first"}, {both.data() + 32, 128, false, "second"}, output(out, "out")});
  CHECK(finds(report, FindingKind::kOutOfBounds));
}

TEST_CASE("reading a buffer that starts unwritten") {
  const Kernel kernel{loadText(laneModule(1, 1, kCopy)), 32, 0};
  std::vector<uint32_t> in(32), out(32);
  EmulatorBuffer fresh = input(in, "in");
  fresh.initialised = false;
  CHECK(finds(run(kernel, 1, {slot(in.data()), slot(out.data())}, {fresh, output(out, "out")}), FindingKind::kUninitialised));
  CHECK(run(kernel, 1, {slot(in.data()), slot(out.data())}, {fresh, output(out, "out")}, {.uninitialised = false}).clean());
}

TEST_CASE("the limit of findings ends the run") {
  std::string body;
  for (int i = 1; i <= 10; i++)
    body += fmt::format(
        "%p{0} = llvm.getelementptr %p_in[{1}] : (!llvm.ptr) -> !llvm.ptr, i32\n%x{0} = llvm.load volatile %p{0} : !llvm.ptr -> "
        "i32\n",
        i, i * 1000);
  const Kernel kernel{loadText(laneModule(1, 1, body + kCopy)), 32, 0};
  std::vector<uint32_t> in(32), out(32);
  const EmulationReport report =
      run(kernel, 1, {slot(in.data()), slot(out.data())}, {input(in, "in"), output(out, "out")}, {.max_findings = 3});
  CHECK(report.findings.size() == 3);
}

TEST_CASE("several kernels, no kernel, a wrong name") {
  const std::string two =
      "llvm.func @a() attributes {nvvm.kernel} {\nllvm.return\n}\nllvm.func @b() attributes {nvvm.kernel} {\nllvm.return\n}\n";
  TextModule parsed(two);
  compiler::Trace trace;
  CHECK(loadProgram(*parsed.module, target("sm_90a"), "b", trace).ok());
  CHECK(loadProgram(*parsed.module, target("sm_90a"), "", trace).diag().code == Code::kUsage);
  CHECK(loadProgram(*parsed.module, target("sm_90a"), "c", trace).diag().code == Code::kUsage);
}
