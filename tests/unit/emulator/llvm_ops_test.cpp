// LLVM's own instructions as the decoder and the handlers understand them, optimised and not: against C++ arithmetic.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/unit/emulator/lane_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

uint32_t anyWord(Numbers& numbers) { return numbers.bits() * 2u ^ numbers.bits() << 9; }

}  // namespace

TEST_CASE("integer arithmetic of 8, 16, 32 and 64 bits") {
  // Each op on words cut to the width; the results are joined into one word by xor of halves for 64 bits.
  const char* ops[] = {"add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr"};
  for (int bits : {8, 16, 32, 64}) {
    CAPTURE(bits);
    std::string body;
    if (bits == 64) {
      body +=
          "%c32 = llvm.mlir.constant(32 : i64) : i64\n%w0 = llvm.zext %a0 : i32 to i64\n%w1 = llvm.zext %a1 : i32 to i64\n%h = "
          "llvm.shl %w1, %c32 : i64\n%x = llvm.or %h, %w0 : i64\n%y = llvm.zext %a2 : "
          "i32 to i64\n";
    } else {
      for (int i : {0, 2})
        body += bits == 32 ? fmt::format("%{} = llvm.bitcast %a{} : i32 to i32\n", i ? "y" : "x", i)
                           : fmt::format("%{} = llvm.trunc %a{} : i32 to i{}\n", i ? "y" : "x", i, bits);
    }
    body += fmt::format(
        "%m = llvm.mlir.constant({} : i{}) : i{}\n%shift = llvm.and %y, %m : i{}\n%one = llvm.mlir.constant(1 : i{}) : i{}\n%d = "
        "llvm.or %y, %one : i{}\n",
        bits - 1, bits, bits, bits, bits, bits, bits);
    for (int i = 0; i < 13; i++) {
      const bool shifts = i >= 10, divides = i >= 3 && i <= 6;
      body += fmt::format("%q{} = llvm.{} %x, {} : i{}\n", i, ops[i], shifts ? "%shift" : divides ? "%d" : "%y", bits);
      if (bits == 64)
        body += fmt::format(
            "%qh{0} = llvm.lshr %q{0}, %c32 : i64\n%qx{0} = llvm.xor %qh{0}, %q{0} : i64\n%r{0} = llvm.trunc %qx{0} : i64 to "
            "i32\n",
            i);
      else
        body += bits == 32 ? fmt::format("%r{0} = llvm.or %q{0}, %c0 : i32\n", i)
                           : fmt::format("%r{0} = llvm.zext %q{0} : i{1} to i32\n", i, bits);
    }
    Numbers numbers(static_cast<uint64_t>(bits));
    const LaneRun run = runLanes(3, 13, body, [&](int, int) { return anyWord(numbers); }, 64);
    const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    const auto sext = [&](uint64_t v) { return static_cast<int64_t>(v << (64 - bits)) >> (64 - bits); };
    for (int t = 0; t < 64; t++) {
      const uint64_t x = (bits == 64 ? static_cast<uint64_t>(run.given(t, 1)) << 32 | run.given(t, 0) : run.given(t, 0)) & mask,
                     y = run.given(t, 2) & mask, d = y | 1, s = y & static_cast<uint64_t>(bits - 1);
      const uint64_t expected[] = {x + y,
                                   x - y,
                                   x * y,
                                   x / d,
                                   static_cast<uint64_t>(sext(x) / sext(d)),
                                   x % d,
                                   static_cast<uint64_t>(sext(x) % sext(d)),
                                   x & y,
                                   x | y,
                                   x ^ y,
                                   x << s,
                                   x >> s,
                                   static_cast<uint64_t>(sext(x) >> s)};
      for (int i = 0; i < 13; i++) {
        const uint64_t v = expected[i] & mask;
        CHECK_MESSAGE(run.at(t, i) == static_cast<uint32_t>(bits == 64 ? v ^ v >> 32 : v), ops[i]);
      }
    }
  }
}

TEST_CASE("integer intrinsics") {
  const char* ops[] = {"llvm.intr.ctpop(%a0) : (i32) -> i32",
                       "\"llvm.intr.ctlz\"(%a0) <{is_zero_poison = false}> : (i32) -> i32",
                       "\"llvm.intr.cttz\"(%a0) <{is_zero_poison = false}> : (i32) -> i32",
                       "llvm.intr.bswap(%a0) : (i32) -> i32",
                       "llvm.intr.bitreverse(%a0) : (i32) -> i32",
                       "\"llvm.intr.abs\"(%a0) <{is_int_min_poison = false}> : (i32) -> i32",
                       "llvm.intr.fshl(%a0, %a1, %a2) : (i32, i32, i32) -> i32",
                       "llvm.intr.fshr(%a0, %a1, %a2) : (i32, i32, i32) -> i32",
                       "llvm.intr.smin(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.smax(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.umin(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.umax(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.uadd.sat(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.usub.sat(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.sadd.sat(%a0, %a1) : (i32, i32) -> i32",
                       "llvm.intr.ssub.sat(%a0, %a1) : (i32, i32) -> i32"};
  std::string body;
  for (int i = 0; i < 16; i++) body += fmt::format("%r{} = {}\n", i, ops[i]);
  body +=
      "%ov = \"llvm.intr.uadd.with.overflow\"(%a0, %a1) : (i32, i32) -> !llvm.struct<(i32, i1)>\n%ob = llvm.extractvalue %ov[1] "
      ": !llvm.struct<(i32, i1)>\n%r16 = llvm.zext %ob : i1 to i32\n"
      "%sv = \"llvm.intr.smul.with.overflow\"(%a0, %a1) : (i32, i32) -> !llvm.struct<(i32, i1)>\n%sb = llvm.extractvalue %sv[1] "
      ": !llvm.struct<(i32, i1)>\n%r17 = llvm.zext %sb : i1 to i32\n";
  Numbers numbers(3);
  const LaneRun run = runLanes(3, 18, body, [&](int t, int) { return t == 0 ? 0u : anyWord(numbers); });
  for (int t = 0; t < 32; t++) {
    const uint32_t a = run.given(t, 0), b = run.given(t, 1), n = run.given(t, 2) % 32;
    const int32_t sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
    const auto clamp = [](int64_t v) { return static_cast<uint32_t>(std::clamp<int64_t>(v, INT32_MIN, INT32_MAX)); };
    uint32_t reversed = 0;
    for (int i = 0; i < 32; i++) reversed |= (a >> i & 1) << (31 - i);
    const uint32_t expected[] = {static_cast<uint32_t>(std::popcount(a)),
                                 static_cast<uint32_t>(std::countl_zero(a)),
                                 static_cast<uint32_t>(std::countr_zero(a)),
                                 __builtin_bswap32(a),
                                 reversed,
                                 static_cast<int32_t>(a) < 0 ? 0u - a : a,
                                 n ? a << n | b >> (32 - n) : a,
                                 n ? a << (32 - n) | b >> n : b,
                                 std::min(sa, sb) == sa ? a : b,
                                 std::max(sa, sb) == sa ? a : b,
                                 std::min(a, b),
                                 std::max(a, b),
                                 a + b < a ? ~0u : a + b,
                                 a < b ? 0u : a - b,
                                 clamp(int64_t{sa} + sb),
                                 clamp(int64_t{sa} - sb),
                                 a + b < a ? 1u : 0u,
                                 int64_t{sa} * sb != static_cast<int32_t>(int64_t{sa} * sb) ? 1u : 0u};
    for (int i = 0; i < 18; i++) CHECK(run.at(t, i) == expected[i]);
  }
}

TEST_CASE("comparisons of integers, floats and pointers, select") {
  const char* predicates[] = {"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"};
  const char* floats[] = {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"};
  std::string body = "%x = llvm.bitcast %a0 : i32 to f32\n%y = llvm.bitcast %a1 : i32 to f32\n";
  for (int i = 0; i < 10; i++)
    body += fmt::format("%i{0} = llvm.icmp \"{1}\" %a0, %a1 : i32\n%r{0} = llvm.select %i{0}, %a0, %a1 : i1, i32\n", i,
                        predicates[i]);
  for (int i = 0; i < 14; i++)
    body += fmt::format("%f{0} = llvm.fcmp \"{1}\" %x, %y : f32\n%r{2} = llvm.zext %f{0} : i1 to i32\n", i, floats[i], 10 + i);
  Numbers numbers(4);
  const LaneRun run = runLanes(2, 24, body, [&](int t, int i) {
    if (t < 4) return t % 2 == i ? 0x7FC00000u : 0x3F800000u;  // NaN on one side
    if (t < 8) return bitsOf(1.5f);
    if (t == 8) return bitsOf(i ? 0.0f : -0.0f);
    return bitsOf(numbers.unit());
  });
  for (int t = 0; t < 32; t++) {
    const uint32_t a = run.given(t, 0), b = run.given(t, 1);
    const int32_t sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
    const bool integers[] = {a == b, a != b, a > b, a >= b, a<b, a <= b, sa> sb, sa >= sb, sa < sb, sa <= sb};
    for (int i = 0; i < 10; i++) CHECK(run.at(t, i) == (integers[i] ? a : b));
    const float x = floatOf(a), y = floatOf(b);
    const bool u = std::isnan(x) || std::isnan(y);
    const bool real[] = {x == y,      x > y,      x >= y,      x < y,      x <= y,      !u && x != y, !u,
                         u || x == y, u || x > y, u || x >= y, u || x < y, u || x <= y, u || x != y,  u};
    for (int i = 0; i < 14; i++) CHECK_MESSAGE(run.at(t, 10 + i) == real[i], floats[i]);
  }
}

TEST_CASE("f32 arithmetic and rounding functions; minnum and maxnum drop a NaN") {
  std::string body =
      "%x = llvm.bitcast %a0 : i32 to f32\n%y = llvm.bitcast %a1 : i32 to f32\n%z = llvm.bitcast %a2 : i32 to f32\n";
  const char* two[] = {"llvm.fadd %x, %y : f32",
                       "llvm.fsub %x, %y : f32",
                       "llvm.fmul %x, %y : f32",
                       "llvm.fdiv %x, %y : f32",
                       "llvm.intr.minnum(%x, %y) : (f32, f32) -> f32",
                       "llvm.intr.maxnum(%x, %y) : (f32, f32) -> f32",
                       "llvm.intr.copysign(%x, %y) : (f32, f32) -> f32",
                       "llvm.intr.fma(%x, %y, %z) : (f32, f32, f32) -> f32",
                       "llvm.intr.fabs(%x) : (f32) -> f32",
                       "llvm.fneg %x : f32",
                       "llvm.intr.floor(%x) : (f32) -> f32",
                       "llvm.intr.ceil(%x) : (f32) -> f32",
                       "llvm.intr.trunc(%x) : (f32) -> f32",
                       "llvm.intr.roundeven(%x) : (f32) -> f32"};
  for (int i = 0; i < 14; i++) body += fmt::format("%f{0} = {1}\n%r{0} = llvm.bitcast %f{0} : f32 to i32\n", i, two[i]);
  Numbers numbers(5);
  const LaneRun run = runLanes(3, 14, body, [&](int t, int i) {
    return t < 2 && i == t ? 0x7FC00000u
           : t < 8         ? bitsOf(static_cast<float>(numbers.below(9)) / 2 - 2)
                           : bitsOf(numbers.unit() * 100);
  });
  for (int t = 0; t < 32; t++) {
    const float x = floatOf(run.given(t, 0)), y = floatOf(run.given(t, 1)), z = floatOf(run.given(t, 2));
    const float expected[] = {x + y,
                              x - y,
                              x * y,
                              x / y,
                              std::fmin(x, y),
                              std::fmax(x, y),
                              std::copysign(x, y),
                              std::fma(x, y, z),
                              std::fabs(x),
                              -x,
                              std::floor(x),
                              std::ceil(x),
                              std::trunc(x),
                              std::nearbyint(x)};
    for (int i = 0; i < 14; i++) {
      const float got = floatOf(run.at(t, i));
      if (std::isnan(expected[i]))
        CHECK(std::isnan(got));
      else
        CHECK_MESSAGE(got == expected[i], two[i]);
    }
  }
}

TEST_CASE("f16 and bf16 round once") {
  const std::string body =
      "%h = llvm.bitcast %a0 : i32 to vector<2xf16>\n%g = llvm.bitcast %a1 : i32 to vector<2xf16>\n%sum = llvm.fadd %h, %g : "
      "vector<2xf16>\n%p = llvm.fmul %h, %g : vector<2xf16>\n"
      "%r0 = llvm.bitcast %sum : vector<2xf16> to i32\n%r1 = llvm.bitcast %p : vector<2xf16> to i32\n"
      "%b = llvm.bitcast %a0 : i32 to vector<2xbf16>\n%c = llvm.bitcast %a1 : i32 to vector<2xbf16>\n%q = llvm.fmul %b, %c : "
      "vector<2xbf16>\n%r2 = llvm.bitcast %q : vector<2xbf16> to i32\n";
  Numbers numbers(6);
  const auto half = [&] {
    return static_cast<uint32_t>(0x3000 + numbers.below(0x1400)) | static_cast<uint32_t>(numbers.below(2)) << 15;
  };
  const LaneRun run = runLanes(2, 3, body, [&](int, int) { return half() | half() << 16; });
  const auto value = [](uint32_t c) {
    const double x = std::ldexp(1024 + (c & 1023), static_cast<int>(c >> 10 & 31) - 25);
    return c >> 15 & 1 ? -x : x;
  };
  for (int t = 0; t < 32; t++) {
    for (int i = 0; i < 2; i++) {
      const uint32_t a = run.given(t, 0) >> (16 * i) & 0xFFFF, b = run.given(t, 1) >> (16 * i) & 0xFFFF;
      for (int op = 0; op < 2; op++) {
        const double exact = op ? value(a) * value(b) : value(a) + value(b);
        const uint32_t got = run.at(t, op) >> (16 * i) & 0xFFFF;
        if (std::fabs(exact) < 0x1p-14) continue;
        const double ulp = std::ldexp(1.0, std::ilogb(exact) - 10);
        CHECK(std::fabs(value(got) - exact) <= ulp / 2);
        if (std::fabs(value(got) - exact) == ulp / 2) CHECK((got & 1) == 0);
      }
      CHECK((run.at(t, 2) >> (16 * i) & 0xFFFF) ==
            toBF16(fromBF16(static_cast<uint16_t>(a)) * fromBF16(static_cast<uint16_t>(b))));
    }
  }
}

TEST_CASE("conversions between integers and floats") {
  const std::string body =
      "%x = llvm.bitcast %a0 : i32 to f32\n%si = llvm.sitofp %a1 : i32 to f32\n%ui = llvm.uitofp %a1 : i32 to f32\n%r0 = "
      "llvm.bitcast %si : f32 to i32\n%r1 = llvm.bitcast %ui : f32 to i32\n"
      "%r2 = llvm.fptosi %x : f32 to i32\n%d = llvm.fpext %x : f32 to f64\n%dd = llvm.fmul %d, %d : f64\n%f = llvm.fptrunc %dd : "
      "f64 to f32\n%r3 = llvm.bitcast %f : f32 to i32\n"
      "%l = llvm.sext %a1 : i32 to i64\n%lf = llvm.sitofp %l : i64 to f32\n%r4 = llvm.bitcast %lf : f32 to i32\n%s8 = llvm.trunc "
      "%a1 : i32 to i8\n%w8 = llvm.sext %s8 : i8 to i32\n%r5 = llvm.or %w8, %c0 : i32\n";
  Numbers numbers(7);
  const LaneRun run = runLanes(2, 6, body, [&](int, int i) { return i ? anyWord(numbers) : bitsOf(numbers.unit() * 1e6f); });
  for (int t = 0; t < 32; t++) {
    const float x = floatOf(run.given(t, 0));
    const uint32_t n = run.given(t, 1);
    CHECK(floatOf(run.at(t, 0)) == static_cast<float>(static_cast<int32_t>(n)));
    CHECK(floatOf(run.at(t, 1)) == static_cast<float>(n));
    CHECK(run.at(t, 2) == static_cast<uint32_t>(static_cast<int32_t>(x)));
    CHECK(floatOf(run.at(t, 3)) == static_cast<float>(double{x} * x));
    CHECK(floatOf(run.at(t, 4)) == static_cast<float>(static_cast<int64_t>(static_cast<int32_t>(n))));
    CHECK(run.at(t, 5) == static_cast<uint32_t>(static_cast<int8_t>(n)));
  }
}

TEST_CASE("vectors: shuffles, inserts and extracts with lanes known and not, bitcasts") {
  const std::string body =
      "%u = llvm.mlir.undef : vector<4xi32>\n%v0 = llvm.insertelement %a0, %u[%c0 : i32] : vector<4xi32>\n%v1 = "
      "llvm.insertelement %a1, %v0[%c1 : i32] : vector<4xi32>\n"
      "%v2 = llvm.insertelement %a2, %v1[%c2 : i32] : vector<4xi32>\n%v = llvm.insertelement %a3, %v2[%c3 : i32] : "
      "vector<4xi32>\n"
      "%at = llvm.and %a0, %c3 : i32\n%e = llvm.extractelement %v[%at : i32] : vector<4xi32>\n%r0 = llvm.or %e, %c0 : i32\n"
      "%w = llvm.insertelement %c1, %v[%at : i32] : vector<4xi32>\n%r1 = llvm.extractelement %w[%c2 : i32] : vector<4xi32>\n"
      "%sh = llvm.shufflevector %v, %w [3, 2, 5, 0] : vector<4xi32>\n%r2 = llvm.extractelement %sh[%c0 : i32] : "
      "vector<4xi32>\n%r3 = llvm.extractelement %sh[%c2 : i32] : vector<4xi32>\n"
      "%b = llvm.bitcast %v : vector<4xi32> to vector<16xi8>\n%i6 = llvm.mlir.constant(6 : i32) : i32\n%b6 = llvm.extractelement "
      "%b[%i6 : i32] : vector<16xi8>\n%r4 = llvm.zext %b6 : i8 to i32\n"
      "%l = llvm.bitcast %v : vector<4xi32> to vector<2xi64>\n%l1 = llvm.extractelement %l[%c1 : i32] : vector<2xi64>\n%c32 = "
      "llvm.mlir.constant(32 : i64) : i64\n%lh = llvm.lshr %l1, %c32 : i64\n%r5 = llvm.trunc %lh : i64 to i32\n"
      "%bits = llvm.bitcast %a1 : i32 to vector<32xi1>\n%i9 = llvm.mlir.constant(9 : i32) : i32\n%bit = llvm.extractelement "
      "%bits[%i9 : i32] : vector<32xi1>\n%r6 = llvm.zext %bit : i1 to i32\n";
  Numbers numbers(8);
  const LaneRun run = runLanes(4, 7, body, [&](int, int) { return anyWord(numbers); });
  for (int t = 0; t < 32; t++) {
    const int at = static_cast<int>(run.given(t, 0) & 3);
    CHECK(run.at(t, 0) == run.given(t, at));
    CHECK(run.at(t, 1) == (at == 2 ? 1 : run.given(t, 2)));
    CHECK(run.at(t, 2) == run.given(t, 3));
    CHECK(run.at(t, 3) == (at == 1 ? 1 : run.given(t, 1)));
    CHECK(run.at(t, 4) == (run.given(t, 1) >> 16 & 255));
    CHECK(run.at(t, 5) == run.given(t, 3));
    CHECK(run.at(t, 6) == (run.given(t, 1) >> 9 & 1));
  }
}

TEST_CASE("memory: vectors, structs, local arrays, constants, memcpy and memset, generic pointers to shared memory") {
  const std::string body =
      "%eight = llvm.mlir.constant(8 : i32) : i32\n%local = llvm.alloca %eight x i32 {alignment = 16 : i64} : (i32) -> "
      "!llvm.ptr\n"
      "%at = llvm.and %a0, %c3 : i32\n%lp = llvm.getelementptr %local[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32\n"
      "%len = llvm.mlir.constant(32 : i64) : i64\n%byte = llvm.mlir.constant(17 : i8) : i8\n\"llvm.intr.memset\"(%local, %byte, "
      "%len) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()\n"
      "llvm.store %a1, %lp : i32, !llvm.ptr\n%lv = llvm.load %local {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>\n"
      "%e0 = llvm.extractelement %lv[%c0 : i32] : vector<4xi32>\n%e1 = llvm.extractelement %lv[%c1 : i32] : vector<4xi32>\n%e2 = "
      "llvm.extractelement %lv[%c2 : i32] : vector<4xi32>\n%e3 = llvm.extractelement %lv[%c3 : i32] : vector<4xi32>\n"
      "%x0 = llvm.xor %e0, %e1 : i32\n%x1 = llvm.xor %e2, %e3 : i32\n%r0 = llvm.xor %x0, %x1 : i32\n"
      "%row = llvm.mlir.constant(32 : i32) : i32\n%so = llvm.mul %tid, %row : i32\n%sp = llvm.getelementptr %s[%so] : "
      "(!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n%gen = llvm.addrspacecast %sp : !llvm.ptr<3> to !llvm.ptr\n"
      "\"llvm.intr.memcpy\"(%gen, %local, %len) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()\n"
      "%back = llvm.addrspacecast %gen : !llvm.ptr to !llvm.ptr<3>\n%bp = llvm.getelementptr %back[%at] : (!llvm.ptr<3>, i32) -> "
      "!llvm.ptr<3>, i32\n%r1 = llvm.load %bp : !llvm.ptr<3> -> i32\n"
      "%table = llvm.mlir.addressof @table : !llvm.ptr\n%tp = llvm.getelementptr %table[0, %at] : (!llvm.ptr, i32) -> !llvm.ptr, "
      "!llvm.array<4 x i32>\n%r2 = llvm.load %tp : !llvm.ptr -> i32\n"
      "%pair = llvm.load %gen {alignment = 4 : i64} : !llvm.ptr -> !llvm.struct<(i8, i32)>\n%r3 = llvm.extractvalue %pair[1] : "
      "!llvm.struct<(i8, i32)>\n";
  Numbers numbers(9);
  std::vector<uint32_t> in, out(4 * 32);
  for (int i = 0; i < 64; i++) in.push_back(anyWord(numbers));
  for (bool optimise : {false, true}) {
    const std::string text =
        laneModule(2, 4, body,
                   "llvm.mlir.global internal constant @table(dense<[11, 22, 33, 44]> : tensor<4xi32>) : !llvm.array<4 x i32>\n");
    Kernel kernel{loadText(text, "sm_120a", optimise), 32, 4096};
    const EmulationReport report = run(kernel, 1, {slot(in.data()), slot(out.data())}, {input(in, "in"), output(out, "out")});
    CHECK_MESSAGE(report.clean(), report.text());
    for (int t = 0; t < 32; t++) {
      const uint32_t at = in[t * 2] & 3, value = in[t * 2 + 1], fill = 0x11111111;
      CHECK(out[t * 4] == (value ^ fill));  // three equal words and one other
      CHECK(out[t * 4 + 1] == value);
      CHECK(out[t * 4 + 2] == 11 * (at + 1));
      CHECK(out[t * 4 + 3] == (at == 1 ? value : fill));
    }
  }
}

TEST_CASE("atomics return the old value and count right") {
  const std::string body =
      "%g = llvm.addrspacecast %out : !llvm.ptr to !llvm.ptr<1>\n"
      "%first = llvm.icmp \"eq\" %tid, %c0 : i32\nllvm.cond_br %first, ^zero, ^ready\n^zero:\nllvm.store %c0, %s : i32, "
      "!llvm.ptr<3>\nllvm.br ^ready\n^ready:\nnvvm.barrier0\n"
      "%old = llvm.atomicrmw add %s, %c1 monotonic : !llvm.ptr<3>, i32\n%r0 = llvm.or %old, %c0 : i32\n"
      "nvvm.barrier0\n%max = llvm.atomicrmw umax %s, %a0 monotonic : !llvm.ptr<3>, i32\nnvvm.barrier0\n%r1 = llvm.load %s : "
      "!llvm.ptr<3> -> i32\n"
      "nvvm.barrier0\n%cas = llvm.cmpxchg %s, %r1, %tid monotonic monotonic : !llvm.ptr<3>, i32\n%ok = llvm.extractvalue %cas[1] "
      ": !llvm.struct<(i32, i1)>\n%r2 = llvm.zext %ok : i1 to i32\n";
  const LaneRun run = runLanes(1, 3, body, [](int t, int) { return static_cast<uint32_t>(t * 37 % 101 + 100); }, 64);
  uint64_t seen = 0;
  uint32_t most = 0, winners = 0;
  for (int t = 0; t < 64; t++) {
    seen |= uint64_t{1} << run.at(t, 0);
    most = std::max(most, run.given(t));
    winners += run.at(t, 2);
  }
  CHECK(seen == ~uint64_t{0});
  CHECK(winners == 1);
  for (int t = 0; t < 64; t++) CHECK(run.at(t, 1) == most);
}

TEST_CASE("switch with lanes at every case") {
  const std::string body =
      "%key = llvm.and %a0, %c3 : i32\nllvm.switch %key : i32, ^other [\n 0: ^zero,\n 1: ^one,\n 2: ^zero\n ]\n"
      "^zero:\n%z = llvm.add %a0, %c16 : i32\nllvm.br ^join(%z : i32)\n^one:\n%o = llvm.mul %a0, %c3 : i32\nllvm.br ^join(%o : "
      "i32)\n^other:\nllvm.br ^join(%c4 : i32)\n^join(%x: i32):\n"
      "%r0 = nvvm.shfl.sync bfly %all, %x, %c1, %c31 : i32 -> i32\n";
  const LaneRun run = runLanes(1, 1, body, [](int t, int) { return static_cast<uint32_t>(t * 5); });
  for (int t = 0; t < 32; t++) {
    const uint32_t a = run.given(t ^ 1), key = a & 3;
    CHECK(run.at(t) == (key == 0 || key == 2 ? a + 16 : key == 1 ? a * 3 : 4));
  }
}
