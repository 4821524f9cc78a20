// Kernels recorded with the DSL run clean and right: elementwise, reductions, a GEMM and a gather of fp8 rows with roles.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tests/unit/emulator/recorded_kernels.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;
using dsl::Builder;
using dsl::Type;
using dsl::Value;

namespace {

const char* const kTargets[] = {"sm_120a", "sm_90a", "sm_80"};

// Runs with several seeds; every run must be clean.
template <typename Check>
void runClean(const Kernel& kernel, int64_t blocks, const std::vector<ArgSlot>& args, const std::vector<EmulatorBuffer>& buffers,
              Check check) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    CAPTURE(seed);
    const EmulationReport report = run(kernel, blocks, args, buffers, {.seed = seed});
    CHECK_MESSAGE(report.clean(), report.text());
    check();
  }
}

}  // namespace

TEST_CASE("vector add with a tail") {
  for (const char* name : kTargets) {
    for (bool optimise : {true, false}) {
      CAPTURE(name);
      CAPTURE(optimise);
      dsl::Program program =
          mustRecord("axpy", {{"x", ArgType::kPointer, 16}, {"y", ArgType::kPointer, 16}, {"n", ArgType::kI64}}, [](Builder& b) {
            Value i = (b.programId() * 1024 + b.range(1024)).to(Type::I64), live = i < b.arg("n");
            Value x = b.load(b.pointer("x", Type::F32), i, live, 0.f), y = b.pointer("y", Type::F32);
            b.store(y, i, x * 2.f + b.load(y, i, live, 0.f), live);
          });
      Schedule schedule;
      Kernel kernel = lower(program, schedule, name, optimise);
      const int n = 2500;
      std::vector<float> x(n), y(n), expected(n);
      Numbers numbers(1);
      for (float& v : x) v = numbers.unit();
      for (uint64_t seed : {0, 1, 2}) {
        for (int i = 0; i < n; i++) expected[i] = x[i] * 2 + (y[i] = numbers.unit());
        const EmulationReport report =
            run(kernel, 3, {slot(x.data()), slot(y.data()), slot(int64_t{n})}, {input(x, "x"), output(y, "y")}, {.seed = seed});
        CHECK_MESSAGE(report.clean(), report.text());
        CHECK(y == expected);
      }
    }
  }
}

TEST_CASE("softmax of rows") {
  for (const char* name : kTargets) {
    CAPTURE(name);
    dsl::Program program = mustRecord("softmax", {{"x", ArgType::kPointer, 16}, {"y", ArgType::kPointer, 16}}, [](Builder& b) {
      Value off = ((b.programId() * 8 + b.range(8)) * 256).col() + b.range(256).row();
      Value x = b.load(b.pointer("x", Type::F32), off);
      Value e = exp2((x - reduceMax(x, 1).col()) * 1.44269504f);
      b.store(b.pointer("y", Type::BF16), off, (e / reduceSum(e, 1).col()).to(Type::BF16));
    });
    Kernel kernel = lower(program, Schedule{}, name);
    std::vector<float> x(16 * 256);
    std::vector<uint16_t> y(x.size());
    Numbers numbers(2);
    for (float& v : x) v = 4 * numbers.unit();
    runClean(kernel, 2, {slot(x.data()), slot(y.data())}, {input(x, "x"), output(y, "y")}, [&] {
      double worst = 0;
      for (int row = 0; row < 16; row++) {
        double sum = 0;
        for (int i = 0; i < 256; i++) sum += std::exp(double{x[row * 256 + i]});
        for (int i = 0; i < 256; i++) {
          const double expected = std::exp(double{x[row * 256 + i]}) / sum;
          worst = std::max(worst, std::abs(fromBF16(y[row * 256 + i]) - expected) / expected);
        }
      }
      CHECK(worst < 1.0 / 256);
    });
  }
}

TEST_CASE("kernels with a role that loads: GEMM, gather of fp8 rows") {
  struct Case {
    const char* target;
    Copy copy;
    int stages;
  };
  for (const Case& c : {Case{"sm_120a", Copy::kAuto, 3}, Case{"sm_120a", Copy::kBulk, 2}, Case{"sm_120a", Copy::kAsync, 3},
                        Case{"sm_90a", Copy::kBulk, 3}, Case{"sm_90a", Copy::kAsync, 2}, Case{"sm_80", Copy::kAsync, 3}}) {
    CAPTURE(c.target);
    CAPTURE(static_cast<int>(c.copy));
    for (bool optimise : {true, false}) {
      dsl::Program gemm_program = Gemm::record();
      const Kernel gemm_kernel = lower(gemm_program, Gemm::schedule(c.copy, c.stages), c.target, optimise);
      Gemm gemm;
      GatherScores scores;
      std::optional<Kernel> scores_kernel;
      if (target(c.target).has_fp8) {
        dsl::Program scores_program = GatherScores::record();
        scores_kernel = lower(scores_program, GatherScores::schedule(c.copy, c.stages), c.target, optimise);
      }
      for (uint64_t seed = 0; seed < 6; seed++) {
        CAPTURE(seed);
        const EmulationReport report = gemm.run(gemm_kernel, {.seed = seed});
        CHECK_MESSAGE(report.clean(), report.text());
        CHECK(gemm.wrong() == 0);
        if (!scores_kernel) continue;
        const EmulationReport gathered = scores.run(*scores_kernel, {.seed = seed});
        CHECK_MESSAGE(gathered.clean(), gathered.text());
        CHECK(scores.wrong() == 0);
      }
    }
  }
}

namespace {

// Each block stores a partial sum; the block that takes the last ticket adds them up.
dsl::Program recordSplitSum() {
  return mustRecord("split_sum",
                    {{"x", ArgType::kPointer, 16},
                     {"partial", ArgType::kPointer, 4},
                     {"counter", ArgType::kPointer, 4},
                     {"out", ArgType::kPointer, 4},
                     {"blocks", ArgType::kI32}},
                    [](Builder& b) {
                      Value pid = b.programId(), blocks = b.arg("blocks"), lane = b.range(128);
                      Value sum = reduceSum(b.load(b.pointer("x", Type::F32), pid * 128 + lane), 0);
                      Value partial = b.pointer("partial", Type::F32);
                      b.store(partial, pid + b.range(1), b.full(sum, {1}));
                      Value number = b.ticket(b.pointer("counter", Type::I32), blocks);
                      b.when(number == blocks - 1, [&] {
                        Value all = b.load(partial, lane, lane < blocks, 0.f);
                        b.store(b.pointer("out", Type::F32), b.range(1), b.full(reduceSum(all, 0), {1}));
                      });
                    });
}

}  // namespace

TEST_CASE("a ticket orders the stores of other blocks") {
  dsl::Program program = recordSplitSum();
  const Kernel kernel = lower(program, Schedule{}, "sm_120a");
  dsl::Program broken_program = recordSplitSum();
  const Kernel broken = lower(broken_program, Schedule{}, "sm_120a", true, [](mlir::ModuleOp module) {
    module->walk([](mlir::LLVM::AtomicRMWOp op) { op.setOrdering(mlir::LLVM::AtomicOrdering::monotonic); });
  });
  const int blocks = 9;
  std::vector<float> x(blocks * 128), partial(blocks), out(1);
  std::vector<int32_t> counter(1);
  Numbers numbers(5);
  double expected = 0;
  for (float& v : x) expected += v = static_cast<float>(numbers.below(100));
  for (int workers : {1, 2, 4}) {
    for (uint64_t seed = 0; seed < 4; seed++) {
      const std::vector<ArgSlot> args = {slot(x.data()), slot(partial.data()), slot(counter.data()), slot(out.data()),
                                         slot(int32_t{blocks})};
      EmulatorBuffer partials = output(partial, "partial"), result = output(out, "out");
      partials.initialised = result.initialised = false;
      const std::vector<EmulatorBuffer> buffers = {input(x, "x"), partials, output(counter, "counter"), result};
      const EmulationReport report = run(kernel, blocks, args, buffers, {.seed = seed, .workers = workers});
      CHECK_MESSAGE(report.clean(), report.text());
      CHECK(out[0] == expected);
      CHECK(counter[0] == 0);
      const EmulationReport bad = run(broken, blocks, args, buffers, {.seed = seed, .workers = workers});
      CHECK_MESSAGE(finds(bad, FindingKind::kRace), bad.text());
    }
  }
}

TEST_CASE("register budgets of roles") {
  dsl::Program program = Gemm::record();
  Schedule schedule = Gemm::schedule(Copy::kBulk, 3);
  schedule.roles = {{"load", {}, 4, 40}, {"main", {"main"}, 8, 216}};
  schedule.grid["main"] = {2, 4, 1};
  const Kernel kernel = lower(program, schedule, "sm_90a");
  CHECK(kernel.threads == 384);
  Gemm gemm;
  for (uint64_t seed = 0; seed < 6; seed++) {
    const EmulationReport report = gemm.run(kernel, {.seed = seed});
    CHECK_MESSAGE(report.clean(), report.text());
    CHECK(gemm.wrong() == 0);
  }
}

TEST_CASE("findings do not depend on the number of workers") {
  const Kernel kernel{loadText("llvm.func @k(%out: !llvm.ptr) attributes {nvvm.kernel} {\n"
                               "  %b = nvvm.read.ptx.sreg.ctaid.x : i32\n  %t = nvvm.read.ptx.sreg.tid.x : i32\n"
                               "  %p = llvm.getelementptr %out[%b] : (!llvm.ptr, i32) -> !llvm.ptr, i32\n  %q = "
                               "llvm.getelementptr %p[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i64\n"
                               "  llvm.store %b, %q : i32, !llvm.ptr\n  llvm.return\n}\n"),
                      32, 0};
  std::vector<int32_t> out(40);
  std::string first;
  for (int workers : {1, 3}) {
    const EmulationReport report = run(kernel, 8, {slot(out.data())}, {output(out, "out")}, {.races = false, .workers = workers});
    CHECK(finds(report, FindingKind::kOutOfBounds));
    std::string text;
    for (const Finding& finding : report.findings) text += finding.text();
    if (first.empty()) first = text;
    CHECK(text == first);
  }
}
