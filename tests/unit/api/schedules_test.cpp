// A schedule does not change what a program computes: small programs on the emulator, under schedules that the project's own
// kernels do not use, against the CPU, which knows no schedule. The emulator refuses a run with a race or a misused barrier.
#include <doctest/doctest.h>

#include <cmath>

#include "api/number_formats.h"
#include "api/run_program.h"

using namespace nereid;
using namespace nereid::api;
using dsl::Builder, dsl::Type, dsl::Value;

namespace {

constexpr int kRows = 512;  // bytes of a pool row
constexpr int kPoolRows = 1024;
constexpr int kSide = 16;  // rows and columns of a result

using Body = std::function<void(Builder&)>;

// Element offsets of a rows x cols tile with rows `pitch` elements apart.
Value offsets(Builder& b, int rows, int cols, int pitch) {
  return ((b.range(rows) * pitch).col() + b.range(cols).row()).to(Type::I64);
}

Value zeros(Builder& b) { return b.full(0., Type::F32, {kSide, kSide}); }
Value weights(Builder& b) { return b.load(b.pointer("w", Type::F16), offsets(b, kSide, 64, 64)); }  // [16, 64]
Value poolRows(Builder& b, const Value& tile, int count) {
  const Value row = b.range(count) + tile * count;
  return b.gatherRows(b.pointer("pool", Type::I8), (row * kRows).to(Type::I64), kRows, row >= 0, 16);
}
void store(Builder& b, const Value& result) { b.store(b.pointer("out", Type::F32), offsets(b, kSide, kSide, kSide), result); }

Result<std::vector<float>> run(const Body& body, const char* device, const char* schedule, int tiles, uint64_t seed = 0) {
  std::vector<uint8_t> pool(size_t{kPoolRows} * kRows);
  for (size_t i = 0; i < pool.size(); i++) {  // halves below 2, and as bytes e4m3 numbers
    const uint16_t half = encodeF16(static_cast<float>(static_cast<int>(i / 2 * 7 % 31) - 15) / 8);
    pool[i] = static_cast<uint8_t>(i % 2 ? half >> 8 : half & 0xff);
  }
  std::vector<uint16_t> w;
  for (int i = 0; i < kSide * 64; i++) w.push_back(encodeF16(static_cast<float>(i * 5 % 17 - 8) / 4));
  std::vector<float> out(size_t{kSide} * kSide, -1.f);
  const ArgList args = {
      {"pool", ArgType::kPointer, 16}, {"w", ArgType::kPointer, 16}, {"out", ArgType::kPointer, 16}, {"tiles", ArgType::kI32, 1}};
  NEREID_TRY(dsl::Program program, dsl::record("program", args, body));
  NEREID_TRY(const Schedule chosen, parseSchedule(schedule, Schedule{}));
  RunOptions options;
  NEREID_TRY(options.device, findDevice(device));
  options.target = "sm_90a";
  options.seed = seed;
  const Arguments arguments = {{"pool", input(pool)}, {"w", input(w)}, {"out", output(out)}, {"tiles", tiles}};
  if (auto ran = runProgram(std::move(program), chosen, 1, arguments, options); !ran) return ran.diag();
  return out;
}

void checkSame(const Body& body, std::initializer_list<const char*> schedules, int tiles = 4) {
  auto expected = run(body, "cpu", "", tiles);
  REQUIRE_MESSAGE(expected.ok(), expected.diag().text());
  for (const char* schedule : schedules)
    for (uint64_t seed = 0; seed < 3; seed++) {
      CAPTURE(schedule);
      CAPTURE(seed);
      auto got = run(body, "emu", schedule, tiles, seed);
      REQUIRE_MESSAGE(got.ok(), got.diag().text());
      double difference = 0, size = 0;
      for (size_t i = 0; i < got->size(); i++) {
        difference += std::abs((*got)[i] - (*expected)[i]);
        size += std::abs((*expected)[i]);
      }
      CHECK(size > 0);
      CHECK(difference <= 1e-5 * size);
    }
}

// Two products of the rows in a loop; `k` of the pool's f16 or e4m3 columns.
Body twoProducts(const std::function<Value(Builder&, const Value&, const Value&, const Value&)>& join) {
  return [=](Builder& b) {
    std::vector<Value> sum = {zeros(b)};
    const Value w = weights(b);
    b.loop("tiles", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
      const Value rows = poolRows(b, i, 64);
      const Value bytes = b.view(rows, 0, Type::F8E4M3, kSide).to(Type::F16), halves = b.view(rows, 64, Type::F16, kSide);
      s[0] = join(b, b.dot("x", w, bytes, zeros(b)), b.dot("y", w, halves, zeros(b)), s[0]);
    });
    store(b, sum[0]);
  };
}

}  // namespace

TEST_CASE("addends of sums whose products have other grids or orders of columns") {
  const auto schedules = {"warps=4,grid.x=1x1x4,grid.y=1x2x2", "warps=4,grid.x=1x2x2,grid.y=1x1x4",
                          "warps=2,grid.x=1x1x2,grid.y=1x1x2",
                          "roles=load+main,role.main.warps=4,role.main.dots=x+y,grid.x=1x1x4,grid.y=1x2x2"};
  SUBCASE("added") {
    checkSame(twoProducts([](Builder&, const Value& x, const Value& y, const Value& sum) { return sum + x + y; }), schedules);
  }
  SUBCASE("transposed") {
    checkSame(twoProducts([](Builder&, const Value& x, const Value& y, const Value& sum) { return sum + trans(x) + x - y; }),
              schedules);
  }
  SUBCASE("one accumulates onto the other") {
    checkSame(
        [](Builder& b) {
          const Value w = weights(b), v = b.load(b.pointer("w", Type::F16), offsets(b, 64, kSide, kSide));
          store(b, b.dot("y", w, v, b.dot("x", w, v, zeros(b))));
        },
        {"warps=4,grid.x=1x1x4,grid.y=1x2x2", "warps=4,grid.x=1x2x2,grid.y=1x1x4"});
  }
  SUBCASE("one accumulator in two loops") {
    checkSame(
        [](Builder& b) {
          std::vector<Value> sum = {zeros(b)};
          const Value w = weights(b);
          b.loop("first", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
            s[0] = b.dot("x", w, b.view(poolRows(b, i, 64), 0, Type::F8E4M3, kSide).to(Type::F16), s[0]);
          });
          b.loop("second", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
            s[0] = b.dot("y", w, b.view(poolRows(b, i, 64), 64, Type::F16, kSide), s[0]);
          });
          store(b, sum[0]);
        },
        schedules);
  }
}

TEST_CASE("a slot goes back after it was read, also where a value is computed late in its reader") {
  const Body body = [](Builder& b) {
    std::vector<Value> sum = {zeros(b)};
    const Value w = weights(b);
    b.loop("tiles", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
      const Value rows = poolRows(b, i, kSide);
      const Value p = b.dot("x", w, trans(b.view(rows, 0, Type::F16, 64)), zeros(b)).to(Type::F16);
      s[0] = b.dot("y", p * 2.f + 1.f, b.view(rows, 128, Type::F16, kSide), s[0]);
    });
    store(b, sum[0]);
  };
  checkSame(body,
            {"roles=load+a+b,role.load.warps=1,role.a.warps=1,role.a.dots=x,role.b.warps=1,role.b.dots=y,stages=3",
             "roles=load+a+b,role.load.warps=1,role.a.warps=1,role.a.dots=x,role.b.warps=1,role.b.dots=y,stages=4",
             "roles=load+a+b,role.load.warps=1,role.a.warps=2,role.a.dots=x,role.b.warps=2,role.b.dots=y,stages=6"},
            12);
}

TEST_CASE("a role without dots takes over what needs whole sums, and joins their addends") {
  // The sum of two products, a softmax of its rows with a carried maximum, and a product with its weights.
  const Body body = [](Builder& b) {
    std::vector<Value> state = {b.full(-INFINITY, Type::F32, {kSide}), zeros(b)};
    const Value w = weights(b);
    b.loop("tiles", 0, b.arg("tiles"), state, [&](const Value& i, std::vector<Value>& s) {
      const Value rows = poolRows(b, i, kSide);
      const Value v = b.view(rows, 0, Type::F16, 64);
      const Value x = b.dot("x", w, trans(v), b.dot("x", w, trans(b.view(rows, 128, Type::F16, 64)), zeros(b)) * 0.25f);
      const Value top = max(s[0], reduceMax(x, 1)), keep = exp2((s[0] - top) * 0.125f);
      const Value p = exp2((x - top.col()) * 0.125f);
      s[1] = b.dot("y", p.to(Type::F16), b.view(rows, 256, Type::F16, kSide), s[1] * keep.col());
      s[0] = top;
    });
    store(b, state[1]);
  };
  const char* load = "roles=load+a+help+b,role.load.warps=1,role.a.dots=x,role.b.dots=y,role.a.warps=4,";
  for (const char* rest :
       {"grid.x=1x1x4,role.help.warps=1,role.b.warps=1,stages=3", "grid.x=1x2x2,role.help.warps=2,role.b.warps=2,stages=2",
        "grid.x=1x1x4,role.help.warps=4,role.b.warps=2,stages=1",
        "grid.x=1x2x2,role.help.warps=2,role.b.warps=1,stages=4,copy=async"})
    checkSame(body, {(std::string(load) + rest).c_str()}, 9);
  // The same without a product behind it: the helper has the loop's end.
  checkSame(
      [](Builder& b) {
        std::vector<Value> top = {b.full(-INFINITY, Type::F32, {kSide}), zeros(b)};
        const Value w = weights(b);
        b.loop("tiles", 0, b.arg("tiles"), top, [&](const Value& i, std::vector<Value>& s) {
          const Value x = b.dot("x", w, b.view(poolRows(b, i, 64), 64, Type::F16, kSide), zeros(b));
          s[0] = max(s[0], reduceMax(x, 1));
          s[1] = s[1] + abs(x);
        });
        store(b, top[1] + top[0].col());
      },
      {"roles=load+a+help,role.load.warps=1,role.a.dots=x,role.a.warps=4,grid.x=1x1x4,role.help.warps=2,stages=3",
       "roles=load+a+help,role.load.warps=2,role.load.groups=2,role.a.dots=x,role.a.warps=2,grid.x=1x2x1,role.help.warps=1,"
       "stages=2"},
      7);
}

TEST_CASE("a slot goes back that only the loop's end uses") {
  const Body body = [](Builder& b) {
    std::vector<Value> state = {zeros(b), b.full(0., Type::F32, {kSide})};
    const Value w = weights(b);
    b.loop("tiles", 0, b.arg("tiles"), state, [&](const Value& i, std::vector<Value>& s) {
      const Value rows = poolRows(b, i, kSide);
      const Value bias = b.staged(b.load(b.pointer("w", Type::F16), (b.range(kSide) + i * kSide).to(Type::I64)).to(Type::F32));
      const Value x = b.dot("x", w, trans(b.view(rows, 0, Type::F16, 64)), zeros(b));
      const Value p = max(x, 0.f) + s[1].row();
      s[0] = b.dot("y", p.to(Type::F16), b.view(rows, 256, Type::F16, kSide), s[0]);
      s[1] = bias;
    });
    store(b, state[0] + state[1].row());
  };
  checkSame(body,
            {"roles=load+a+help+b,role.load.warps=1,role.a.dots=x,role.a.warps=1,role.help.warps=1,role.b.dots=y,role.b.warps=1,"
             "stages=3",
             "roles=load+a+b,role.load.warps=1,role.a.dots=x,role.a.warps=1,role.b.dots=y,role.b.warps=1,stages=2"},
            9);
}

TEST_CASE("groups take turns round rings that they do not divide") {
  const Body body = [](Builder& b) {
    std::vector<Value> sum = {zeros(b)};
    const Value w = weights(b);
    b.loop("tiles", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
      s[0] = b.dot("x", w, b.view(poolRows(b, i, 64), 64, Type::F16, kSide), s[0]);
    });
    store(b, sum[0]);
  };
  checkSame(body,
            {"roles=load+main,role.load.warps=2,role.load.groups=2,role.main.warps=1,role.main.dots=x,stages=3",
             "roles=load+main,role.load.warps=2,role.load.groups=2,role.main.warps=1,role.main.dots=x,stages=5,copy=async",
             "roles=load+main,role.load.warps=4,role.load.groups=4,role.main.warps=1,role.main.dots=x,stages=5"},
            16);
}

TEST_CASE("what roles cannot share is refused") {
  const auto refused = [](const Body& body, const char* schedule, const char* word) {
    auto r = run(body, "emu", schedule, 2);
    REQUIRE(!r.ok());
    CHECK(r.diag().code == Code::kUnsupported);
    CHECK_MESSAGE(r.diag().what.find(word) != std::string::npos, r.diag().text());
  };
  const char* roles = "roles=load+a+b,role.load.warps=1,role.a.warps=1,role.a.dots=x,role.b.warps=1,role.b.dots=y,stages=2";
  // x accumulates onto y, whose role comes later.
  refused(
      [](Builder& b) {
        std::vector<Value> sum = {zeros(b)};
        const Value w = weights(b);
        b.loop("tiles", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
          const Value v = b.view(poolRows(b, i, 64), 64, Type::F16, kSide);
          s[0] = s[0] + b.dot("x", w, v, b.dot("y", w, v, zeros(b)));
        });
        store(b, sum[0]);
      },
      roles, "dot x depends on what role b computes");
  // A condition that hangs on x decides whether y is computed.
  refused(
      [](Builder& b) {
        std::vector<Value> sum = {zeros(b)};
        const Value w = weights(b);
        b.loop("tiles", 0, b.arg("tiles"), sum, [&](const Value& i, std::vector<Value>& s) {
          const Value v = b.view(poolRows(b, i, 64), 64, Type::F16, kSide);
          const Value some = reduceOr(reduceMax(b.dot("x", w, v, zeros(b)), 1) > 0.f, 0);
          s[0] = b.ifElse(
              some, [&] { return std::vector<Value>{b.dot("y", w, v, s[0])}; }, [&] { return std::vector<Value>{s[0]}; })[0];
        });
        store(b, sum[0]);
      },
      roles, "needs a scalar that role a computes");
}
