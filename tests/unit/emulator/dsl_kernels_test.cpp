// Kernels recorded with the DSL run clean and right: elementwise, reductions, a GEMM with roles, a gather of fp8 rows.
#include <cmath>

#include "tests/unit/emulator/fixtures.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;
using dsl::Builder;
using dsl::Type;
using dsl::Value;

namespace {

dsl::Program mustRecord(const char* name, const ArgList& args, const std::function<void(Builder&)>& body) {
  auto program = dsl::record(name, args, body);
  REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.diag().text()));
  return std::move(*program);
}

const char* const kTargets[] = {"sm_120a", "sm_90a", "sm_80"};

// Runs with several seeds; every run must be clean.
template <typename Check>
void runClean(const Kernel& kernel, int64_t blocks, const std::vector<ArgSlot>& args, const std::vector<EmulatorBuffer>& buffers, Check check) {
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
      dsl::Program program = mustRecord("axpy", {{"x", ArgType::kPointer, 16}, {"y", ArgType::kPointer, 16}, {"n", ArgType::kI64}}, [](Builder& b) {
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
        const EmulationReport report = run(kernel, 3, {slot(x.data()), slot(y.data()), slot(int64_t{n})}, {input(x, "x"), output(y, "y")}, {.seed = seed});
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

TEST_CASE("GEMM with a role that loads") {
  struct Case {
    const char* target;
    Copy copy;
    int stages;
  };
  for (const Case& c : {Case{"sm_120a", Copy::kAuto, 3}, Case{"sm_120a", Copy::kBulk, 2}, Case{"sm_90a", Copy::kBulk, 3}, Case{"sm_90a", Copy::kAsync, 2}, Case{"sm_80", Copy::kAsync, 3}}) {
    CAPTURE(c.target);
    CAPTURE(static_cast<int>(c.copy));
    const int M = 64, N = 64, K = 64;
    dsl::Program program = mustRecord(
        "gemm", {{"a", ArgType::kPointer, 16}, {"b", ArgType::kPointer, 16}, {"c", ArgType::kPointer, 16}, {"m", ArgType::kI64, 1}, {"n", ArgType::kI64, 8}, {"k", ArgType::kI64, 64}},
        [&](Builder& b) {
          Value pid = b.programId(), k = b.arg("k"), n = b.arg("n"), m = b.arg("m");
          Value tiles_n = ceilDiv(n.to(Type::I32), N);
          Value rm = (pid / tiles_n * M + b.range(M)).to(Type::I64), rn = (pid % tiles_n * N + b.range(N)).to(Type::I64);
          std::vector<Value> state{b.full(0., Type::F32, {M, N})};
          b.loop("k", 0, (k / K).to(Type::I32), state, [&](Value i, std::vector<Value>& st) {
            Value off = i.to(Type::I64) * K;
            Value x = b.gatherRows(b.pointer("a", Type::I8), (rm * k + off) * 2, K * 2, rm < m, 16);
            Value y = b.gatherRows(b.pointer("b", Type::I8), (rn * k + off) * 2, K * 2, rn < n, 16);
            st[0] = b.dot("main", b.view(x, 0, Type::BF16, K), trans(b.view(y, 0, Type::BF16, K)), st[0]);
          });
          b.store(b.pointer("c", Type::BF16), (rm * n).col() + rn.row(), state[0].to(Type::BF16), (rm < m).col() & (rn < n).row());
        });
    Schedule schedule;
    schedule.roles = {{"load", {}, 2, 0}, {"main", {"main"}, 4, 0}};
    schedule.grid["main"] = {2, 2, 1};
    schedule.stages = c.stages;
    schedule.copy = c.copy;
    Kernel kernel = lower(program, schedule, c.target);
    const int m = 100, n = 72, k = 320;
    std::vector<uint16_t> a(m * k), b(n * k), out(m * n, 0xFFFF);
    Numbers numbers(3);
    for (uint16_t& v : a) v = toBF16(numbers.unit());
    for (uint16_t& v : b) v = toBF16(numbers.unit());
    runClean(kernel, 4, {slot(a.data()), slot(b.data()), slot(out.data()), slot(int64_t{m}), slot(int64_t{n}), slot(int64_t{k})},
             {input(a, "a"), input(b, "b"), output(out, "c")}, [&] {
               int wrong = 0;
               for (int i = 0; i < m; i++) {
                 for (int j = 0; j < n; j++) {
                   double sum = 0;
                   for (int x = 0; x < k; x++) sum += double{fromBF16(a[i * k + x])} * fromBF16(b[j * k + x]);
                   if (std::abs(fromBF16(out[i * n + j]) - sum) > std::abs(sum) / 200 + 1e-4) wrong++;
                 }
               }
               CHECK(wrong == 0);
               std::fill(out.begin(), out.end(), 0xFFFF);
             });
  }
}
