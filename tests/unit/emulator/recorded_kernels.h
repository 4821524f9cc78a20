// Kernels recorded with the DSL that several tests run: a GEMM and a gather of fp8 rows, both with a role that loads.
#pragma once
#include <cmath>

#include "tests/unit/emulator/fixtures.h"

namespace nereid::emulator::test {

inline dsl::Program mustRecord(const char* name, const ArgList& args, const std::function<void(dsl::Builder&)>& body) {
  auto program = dsl::record(name, args, body);
  REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.diag().text()));
  return std::move(*program);
}

// C [m, n] = A [m, k] · B [n, k]ᵀ, bf16, tiles of 64.
struct Gemm {
  static constexpr int kTile = 64;
  int m = 100, n = 72, k = 320;
  std::vector<uint16_t> a, b, c;

  Gemm() : a(m * k), b(n * k), c(m * n, 0xFFFF) {
    Numbers numbers(3);
    for (uint16_t& v : a) v = toBF16(numbers.unit());
    for (uint16_t& v : b) v = toBF16(numbers.unit());
  }
  static dsl::Program record() {
    using dsl::Type, dsl::Value;
    return mustRecord("gemm",
                      {{"a", ArgType::kPointer, 16},
                       {"b", ArgType::kPointer, 16},
                       {"c", ArgType::kPointer, 16},
                       {"m", ArgType::kI64, 1},
                       {"n", ArgType::kI64, 8},
                       {"k", ArgType::kI64, 64}},
                      [](dsl::Builder& b) {
                        Value pid = b.programId(), k = b.arg("k"), n = b.arg("n"), m = b.arg("m");
                        Value tiles_n = ceilDiv(n.to(Type::I32), kTile);
                        Value rm = (pid / tiles_n * kTile + b.range(kTile)).to(Type::I64),
                              rn = (pid % tiles_n * kTile + b.range(kTile)).to(Type::I64);
                        std::vector<Value> state{b.full(0., Type::F32, {kTile, kTile})};
                        b.loop("k", 0, (k / kTile).to(Type::I32), state, [&](Value i, std::vector<Value>& st) {
                          Value off = i.to(Type::I64) * kTile;
                          Value x = b.gatherRows(b.pointer("a", Type::I8), (rm * k + off) * 2, kTile * 2, rm < m, 16);
                          Value y = b.gatherRows(b.pointer("b", Type::I8), (rn * k + off) * 2, kTile * 2, rn < n, 16);
                          st[0] = b.dot("main", b.view(x, 0, Type::BF16, kTile), trans(b.view(y, 0, Type::BF16, kTile)), st[0]);
                        });
                        b.store(b.pointer("c", Type::BF16), (rm * n).col() + rn.row(), state[0].to(Type::BF16),
                                (rm < m).col() & (rn < n).row());
                      });
  }
  static Schedule schedule(Copy copy, int stages) {
    Schedule schedule;
    schedule.roles = {{"load", {}, 2, 0}, {"main", {"main"}, 4, 0}};
    schedule.grid["main"] = {2, 2, 1};
    schedule.stages = stages;
    schedule.copy = copy;
    return schedule;
  }
  EmulationReport run(const Kernel& kernel, EmulatorOptions options) {
    std::fill(c.begin(), c.end(), 0xFFFF);
    return test::run(kernel, 4,
                     {slot(a.data()), slot(b.data()), slot(c.data()), slot(int64_t{m}), slot(int64_t{n}), slot(int64_t{k})},
                     {input(a, "a"), input(b, "b"), output(c, "c")}, options);
  }
  int wrong() const {
    int count = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int x = 0; x < k; x++) sum += double{fromBF16(a[i * k + x])} * fromBF16(b[j * k + x]);
        if (!(std::abs(fromBF16(c[i * n + j]) - sum) <= std::abs(sum) / 200 + 1e-4)) count++;
      }
    }
    return count;
  }
};

// Scores of 16 heads with gathered fp8 rows: out [16, count] = q [16, 128] · row [indices]ᵀ; an index < 0 gives 0. Tiles of 32
// rows.
struct GatherScores {
  static constexpr int kHeads = 16, kWidth = 128, kTile = 32;
  int count = 100, pool_rows = 50;
  std::vector<uint16_t> q;
  std::vector<uint8_t> pool;
  std::vector<int32_t> indices;
  std::vector<float> out;

  GatherScores() : q(kHeads * kWidth), pool(pool_rows * kWidth), indices(count), out(kHeads * count) {
    Numbers numbers(4);
    for (uint16_t& v : q) v = halfOf(numbers.below(17) - 8);
    for (uint8_t& v : pool) v = static_cast<uint8_t>(numbers.below(0x60) | numbers.below(2) << 7);
    for (int32_t& v : indices) v = numbers.below(10) == 0 ? -1 : numbers.below(pool_rows);
  }
  static uint16_t halfOf(int x) {  // integers up to 2048
    if (x == 0) return 0;
    const int magnitude = std::abs(x), exponent = std::ilogb(magnitude);
    return static_cast<uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | ((magnitude << (10 - exponent)) & 0x3FF));
  }
  static double e4m3(uint8_t c) {
    const int e = c >> 3 & 15, m = c & 7;
    const double x = e ? std::ldexp(8 + m, e - 10) : std::ldexp(m, -9);
    return c & 128 ? -x : x;
  }
  static dsl::Program record() {
    using dsl::Type, dsl::Value;
    return mustRecord("scores",
                      {{"q", ArgType::kPointer, 16},
                       {"pool", ArgType::kPointer, 16},
                       {"indices", ArgType::kPointer, 4},
                       {"out", ArgType::kPointer, 4},
                       {"count", ArgType::kI32, 1}},
                      [](dsl::Builder& b) {
                        Value head = b.range(kHeads), count = b.arg("count");
                        Value q = b.load(b.pointer("q", Type::F16), (head * kWidth).col() + b.range(kWidth).row());
                        std::vector<Value> state{b.constant(0, Type::I32)};
                        b.loop("tokens", 0, ceilDiv(count, kTile), state, [&](Value i, std::vector<Value>&) {
                          Value token = i * kTile + b.range(kTile), live = token < count;
                          Value index = b.load(b.pointer("indices", Type::I32), token, live, -1);
                          Value selected = index >= 0;
                          Value rows = b.gatherRows(b.pointer("pool", Type::I8),
                                                    select(selected, index, 0).to(Type::I64) * kWidth, kWidth, selected, 16);
                          Value scores = b.dot("qk", q, trans(b.view(rows, 0, Type::F8E4M3, kWidth).to(Type::F16)),
                                               b.full(0., Type::F32, {kHeads, kTile}));
                          b.store(b.pointer("out", Type::F32), (head * count).col() + token.row(), scores, live.row());
                        });
                      });
  }
  static Schedule schedule(Copy copy, int stages) {
    Schedule schedule;
    schedule.roles = {{"load", {}, 1, 0}, {"main", {"qk"}, 4, 0}};
    schedule.grid["qk"] = {1, 4, 1};
    schedule.stages = stages;
    schedule.copy = copy;
    return schedule;
  }
  EmulationReport run(const Kernel& kernel, EmulatorOptions options) {
    std::fill(out.begin(), out.end(), NAN);
    return test::run(kernel, 1, {slot(q.data()), slot(pool.data()), slot(indices.data()), slot(out.data()), slot(int32_t{count})},
                     {input(q, "q"), input(pool, "pool"), input(indices, "indices"), output(out, "out")}, options);
  }
  int wrong() const {
    int bad = 0;
    for (int h = 0; h < kHeads; h++) {
      for (int t = 0; t < count; t++) {
        double sum = 0;
        const int index = indices[static_cast<size_t>(t)];
        for (int d = 0; index >= 0 && d < kWidth; d++) {
          const int sign = q[h * kWidth + d] & 0x8000 ? -1 : 1, bits = q[h * kWidth + d] & 0x7FFF;
          const double x = bits ? sign * std::ldexp(1024 + (bits & 0x3FF), (bits >> 10) - 25) : 0;
          sum += x * e4m3(pool[static_cast<size_t>(index * kWidth + d)]);
        }
        if (!(std::abs(out[static_cast<size_t>(h * count + t)] - sum) <= std::abs(sum) * 1e-5 + 1e-5)) bad++;
      }
    }
    return bad;
  }
};

}  // namespace nereid::emulator::test
