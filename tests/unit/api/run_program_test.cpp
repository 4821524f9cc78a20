// runProgram: arguments by name and type, what comes back, what is refused.
#include "api/run_program.h"

#include <doctest/doctest.h>

using namespace nereid;
using namespace nereid::api;
using dsl::Builder, dsl::Type, dsl::Value;

namespace {

constexpr int kTile = 128;

// y = a·x + y for the first n elements; b is added in i32.
dsl::Program record() {
  const ArgList args = {{"x", ArgType::kPointer, 4},
                        {"y", ArgType::kPointer, 4},
                        {"n", ArgType::kI64, 1},
                        {"a", ArgType::kF32, 1},
                        {"b", ArgType::kI32, 1}};
  auto program = dsl::record("axpy", args, [](Builder& b) {
    const Value i = b.programId().to(Type::I64) * kTile + b.range(kTile).to(Type::I64), live = i < b.arg("n");
    const Value y = b.pointer("y", Type::F32), old = b.load(y, i, live);
    b.store(y, i, b.load(b.pointer("x", Type::F32), i, live) * b.arg("a") + old + b.arg("b").to(Type::F32), live);
  });
  REQUIRE(program.ok());
  return std::move(*program);
}

struct Case {
  std::vector<float> x, y;
  Arguments arguments;
  explicit Case(size_t n = 300) : x(n, 2.0f), y(n, 5.0f) {
    arguments = {{"x", input(x)}, {"y", output(y)}, {"n", n}, {"a", 1.5}, {"b", -1}};
  }
  Result<std::optional<double>> run(const char* device = "cpu", int64_t grid = 3, RunOptions options = {}) {
    auto found = findDevice(device);
    REQUIRE(found.ok());
    options.device = *found;
    return runProgram(record(), {}, grid, arguments, options);
  }
  void refused(const char* word, Code code = Code::kUsage) {
    for (const char* device : {"cpu", "emu"}) {
      CAPTURE(device);
      auto r = run(device);
      REQUIRE(!r.ok());
      CHECK(r.diag().code == code);
      CHECK_MESSAGE(r.diag().what.find(word) != std::string::npos, r.diag().text());
      CHECK(y == std::vector<float>(y.size(), 5.0f));
    }
  }
};

}  // namespace

TEST_CASE("arrays are read, written and brought back") {
  for (const char* device : {"cpu", "emu"}) {
    CAPTURE(device);
    Case c;
    auto r = c.run(device);
    REQUIRE_MESSAGE(r.ok(), (r.ok() ? "" : r.diag().text()));
    CHECK(!r->has_value());
    CHECK(c.x == std::vector<float>(300, 2.0f));
    CHECK(c.y == std::vector<float>(300, 7.0f));
    REQUIRE(c.run(device, 1).ok());  // one block
    std::vector<float> expected(300, 7.0f);
    std::fill_n(expected.begin(), kTile, 9.0f);
    CHECK(c.y == expected);
    REQUIRE(c.run(device, 0).ok());
    CHECK(c.y == expected);
  }
}

TEST_CASE("an integer is a value for a float") {
  Case c;
  c.arguments.at("a") = 3;
  REQUIRE(c.run().ok());
  CHECK(c.y == std::vector<float>(300, 10.0f));
}

TEST_CASE("arguments that are not the program's") {
  SUBCASE("missing") {
    Case c;
    c.arguments.erase("a");
    c.refused("argument a was not given");
  }
  SUBCASE("unknown") {
    Case c;
    c.arguments.insert({"z", 1});
    c.refused("no argument z");
  }
  SUBCASE("memory for a number") {
    Case c;
    c.arguments.at("n") = input(c.x);
    c.refused("argument n is i64 and was given memory");
  }
  SUBCASE("a number for memory") {
    Case c;
    c.arguments.at("x") = 1;
    c.refused("argument x is a pointer and was given a number");
  }
  SUBCASE("a float for an integer") {
    Case c;
    c.arguments.at("b") = 1.0;
    c.refused("argument b is i32 and was given a float");
  }
  SUBCASE("an integer that i32 cannot hold") {
    Case c;
    c.arguments.at("b") = int64_t{1} << 31;
    c.refused("argument b is i32 and was given a wider integer");
  }
  SUBCASE("misaligned memory") {
    Case c;
    c.arguments.at("x") = HostBuffer{reinterpret_cast<uint8_t*>(c.x.data()) + 1, 1200, false};
    c.refused("x is not aligned");
  }
}

TEST_CASE("a store past the end of an array is an error that names it") {
  Case c;
  c.x.resize(301);
  c.arguments.at("x") = input(c.x);
  c.arguments.at("n") = 301;
  auto r = c.run();
  REQUIRE(!r.ok());
  CHECK(r.diag().code == Code::kCheckFailed);
  CHECK_MESSAGE(r.diag().what == "a kernel wrote outside y, 0 bytes past its end", r.diag().text());
  r = c.run("emu");
  REQUIRE(!r.ok());
  CHECK(r.diag().code == Code::kCheckFailed);
}

TEST_CASE("schedules and targets") {
  Case c;
  CHECK(c.run("emu", 3, {.schedule = "warps=2"}).ok());
  auto r = c.run("emu", 3, {.schedule = "warps=3"});
  REQUIRE(!r.ok());
  CHECK(r.diag().code == Code::kUnsupported);
  r = c.run("emu", 3, {.target = "cpu"});
  REQUIRE(!r.ok());
  CHECK_MESSAGE(r.diag().what.find("the target is cpu") != std::string::npos, r.diag().text());
  auto target = findTarget("sm_90a");
  auto artifact = compileProgram(record(), {.warps = 8}, *target, {.assemble = false});
  REQUIRE_MESSAGE(artifact.ok(), (artifact.ok() ? "" : artifact.diag().text()));
  CHECK(artifact->threads == 256);
  CHECK(artifact->ptx.find(".target sm_90a") != std::string::npos);
}

TEST_CASE("sums begin with other values than zero, whatever the schedule splits") {
  // out [16, 32] = 3 + bias + Σ over 3 iterations of 2·(a·b), a and b of ones.
  auto recordSums = [] {
    auto program = dsl::record("sums", {{"bias", ArgType::kPointer, 16}, {"out", ArgType::kPointer, 16}}, [](Builder& b) {
      const Value at = (b.range(16) * 32).col() + b.range(32).row();
      const Value a = b.full(1., Type::F16, {16, 128}), ones = b.full(1., Type::F16, {128, 32});
      std::vector<Value> state = {b.full(3., Type::F32, {16, 32})};
      b.loop("k", 0, 3, state, [&](Value, std::vector<Value>& sum) {
        sum[0] = sum[0] + b.dot("x", a, ones, b.full(0., Type::F32, {16, 32})) * 2.f;
      });
      const Value biased = b.dot("x", b.full(0., Type::F16, {16, 128}), ones, b.load(b.pointer("bias", Type::F32), at));
      b.store(b.pointer("out", Type::F32), at, state[0] + biased);
    });
    REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.diag().text()));
    return std::move(*program);
  };
  std::vector<float> bias(16 * 32), expected, out(bias.size());
  for (size_t i = 0; i < bias.size(); i++) expected.push_back(3 + 3 * 2 * 128 + (bias[i] = static_cast<float>(i)));
  auto emulator = findDevice("emu");
  REQUIRE(emulator.ok());
  for (const char* schedule : {"warps=4", "warps=4,grid.x=1x1x4", "warps=4,grid.x=1x2x2", "warps=8,grid.x=1x1x8"}) {
    CAPTURE(schedule);
    std::fill(out.begin(), out.end(), 0.f);
    auto r = runProgram(recordSums(), {}, 1, {{"bias", input(bias)}, {"out", output(out)}},
                        {.device = *emulator, .schedule = schedule});
    REQUIRE_MESSAGE(r.ok(), (r.ok() ? "" : r.diag().text()));
    CHECK(out == expected);
  }
}
