// Conversions, byte permutes and approximations: against the formats' definitions and the PTX ISA's tables.
#include <cmath>

#include "tests/unit/emulator/lane_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

double minifloat(uint32_t code, int e_bits, int m_bits, int bias) {
  const uint32_t m = code & ((1u << m_bits) - 1), e = code >> m_bits & ((1u << e_bits) - 1);
  const double x = e == 0 ? std::ldexp(m, 1 - bias - m_bits) : std::ldexp((1 << m_bits) + m, static_cast<int>(e) - bias - m_bits);
  return code >> (e_bits + m_bits) & 1 ? -x : x;
}

// The code in 0…max whose value is nearest, ties to the even code; saturating.
uint32_t nearest(double x, uint32_t max, const std::function<double(uint32_t)>& value) {
  uint32_t best = 0;
  for (uint32_t c = 0; c <= max; c++) {
    const double d = std::fabs(std::fabs(x) - value(c)), b = std::fabs(std::fabs(x) - value(best));
    if (d < b || (d == b && c % 2 == 0)) best = c;
  }
  return best;
}

std::string call(const std::string& name, const std::string& args, const std::string& types, const std::string& result) {
  return fmt::format("llvm.call_intrinsic \"llvm.nvvm.{}\"({}) : ({}) -> {}", name, args, types, result);
}

const std::string kPair = "%lo = llvm.trunc %a0 : i32 to i16\n%pair = llvm.bitcast %lo : i16 to vector<2xi8>\n";

}  // namespace

TEST_CASE("e4m3x2, e5m2x2 to f16x2: all codes") {
  for (const char* type : {"f8E4M3FN", "f8E5M2"}) {
    const bool e4m3 = std::string(type) == "f8E4M3FN";
    const std::string body = kPair + fmt::format(
                                         "%h = nvvm.convert.f8x2.to.f16x2 %pair : vector<2xi8> ({}) -> vector<2xf16>\n%r0 = "
                                         "llvm.bitcast %h : vector<2xf16> to i32\n",
                                         type);
    for (int base = 0; base < 256; base += 64) {
      const LaneRun run = runLanes(1, 1, body, [&](int t, int) {
        return static_cast<uint32_t>(base + 2 * t) | static_cast<uint32_t>(base + 2 * t + 1) << 8;
      });
      for (int t = 0; t < 32; t++) {
        for (int i = 0; i < 2; i++) {
          const uint32_t code = static_cast<uint32_t>(base + 2 * t + i), half = run.at(t) >> (16 * i) & 0xFFFF,
                         magnitude = code & 127;
          const bool nan = e4m3 ? magnitude == 127 : magnitude > 0x7C, inf = !e4m3 && magnitude == 0x7C;
          if (nan)
            CHECK((half & 0x7FFF) > 0x7C00);
          else if (inf)
            CHECK((half & 0x7FFF) == 0x7C00);
          else
            CHECK(minifloat(half, 5, 10, 15) == (e4m3 ? minifloat(code, 4, 3, 7) : minifloat(code, 5, 2, 15)));
        }
      }
    }
  }
}

TEST_CASE("f32x2 to e4m3x2, e5m2x2: nearest even, saturating, first operand above") {
  for (const char* type : {"f8E4M3FN", "f8E5M2"}) {
    CAPTURE(type);
    const bool e4m3 = std::string(type) == "f8E4M3FN";
    const std::string body = fmt::format(
        "%x = llvm.bitcast %a0 : i32 to f32\n%y = llvm.bitcast %a1 : i32 to f32\n"
        "%c = nvvm.convert.f32x2.to.f8x2 %x, %y {{rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>}} : i16 ({})\n%r0 "
        "= llvm.zext %c : i16 to i32\n",
        type);
    Numbers numbers(5);
    const LaneRun run = runLanes(2, 1, body, [&](int t, int i) {
      if (t == 0) return bitsOf(i ? 1e9f : -1e9f);
      if (t == 1) return bitsOf(i ? 1.0625f : 1.1875f);  // ties of e4m3
      return bitsOf(numbers.unit() * std::ldexp(1.0f, numbers.below(16) - 9));
    });
    for (int t = 0; t < 32; t++) {
      for (int i = 0; i < 2; i++) {
        const float x = floatOf(run.given(t, 1 - i));
        const uint32_t code = run.at(t) >> (8 * i) & 255;
        const uint32_t expected = e4m3 ? nearest(x, 0x7E, [](uint32_t c) { return minifloat(c, 4, 3, 7); })
                                       : nearest(x, 0x7B, [](uint32_t c) { return minifloat(c, 5, 2, 15); });
        CHECK(code == (expected | (std::signbit(x) ? 0x80u : 0u)));
      }
    }
  }
}

TEST_CASE("f16x2 to e4m3x2") {
  const std::string body =
      "%h = llvm.bitcast %a0 : i32 to vector<2xf16>\n%c = nvvm.convert.f16x2.to.f8x2 %h : vector<2xf16> -> i16 (f8E4M3FN)\n%r0 = "
      "llvm.zext %c : i16 to i32\n";
  const LaneRun run = runLanes(1, 1, body, [](int t, int) {
    return static_cast<uint32_t>(0x2C00 + t * 0x231) | static_cast<uint32_t>(0xB000 + t * 0x1A7) << 16;
  });
  for (int t = 0; t < 32; t++) {
    for (int i = 0; i < 2; i++) {
      const double x = minifloat(run.given(t) >> (16 * i) & 0xFFFF, 5, 10, 15);
      CHECK((run.at(t) >> (8 * i) & 255) ==
            (nearest(x, 0x7E, [](uint32_t c) { return minifloat(c, 4, 3, 7); }) | (x < 0 ? 0x80u : 0u)));
    }
  }
}

TEST_CASE("e2m1, e2m3, e3m2") {
  std::string body =
      "%b = llvm.trunc %a0 : i32 to i8\n%h = nvvm.convert.f4x2.to.f16x2 %b : i8 (f4E2M1FN) -> vector<2xf16>\n%r0 = llvm.bitcast "
      "%h : vector<2xf16> to i32\n" +
      kPair +
      "%h6 = nvvm.convert.f6x2.to.f16x2 %pair : vector<2xi8> (f6E3M2FN) -> vector<2xf16>\n%r1 = llvm.bitcast %h6 : vector<2xf16> "
      "to i32\n"
      "%h7 = nvvm.convert.f6x2.to.f16x2 %pair : vector<2xi8> (f6E2M3FN) -> vector<2xf16>\n%r2 = llvm.bitcast %h7 : vector<2xf16> "
      "to i32\n"
      "%x = llvm.bitcast %a1 : i32 to f32\n%y = llvm.bitcast %a2 : i32 to f32\n"
      "%c4 = nvvm.convert.f32x2.to.f4x2 %x, %y : i8 (f4E2M1FN)\n%r3 = llvm.zext %c4 : i8 to i32\n"
      "%c6 = nvvm.convert.f32x2.to.f6x2 %x, %y : i16 (f6E3M2FN)\n%r4 = llvm.zext %c6 : i16 to i32\n";
  for (auto& [from, to] : {std::pair{"%c4 ", "%cc4 "}, {"%c6 ", "%cc6 "}}) {
    for (size_t at; (at = body.find(from)) != std::string::npos;) body.replace(at, std::strlen(from), to);
  }
  Numbers numbers(9);
  const LaneRun run = runLanes(3, 5, body, [&](int t, int i) {
    return i == 0 ? (static_cast<uint32_t>(2 * t) & 63) | (static_cast<uint32_t>(2 * t + 1) & 63) << 8
                  : bitsOf(7 * numbers.unit());
  });
  for (int t = 0; t < 32; t++) {
    for (int i = 0; i < 2; i++) {
      CHECK(minifloat(run.at(t, 0) >> (16 * i) & 0xFFFF, 5, 10, 15) == minifloat(run.given(t) >> (4 * i) & 15, 2, 1, 1));
      CHECK(minifloat(run.at(t, 1) >> (16 * i) & 0xFFFF, 5, 10, 15) == minifloat(run.given(t) >> (8 * i) & 63, 3, 2, 3));
      CHECK(minifloat(run.at(t, 2) >> (16 * i) & 0xFFFF, 5, 10, 15) == minifloat(run.given(t) >> (8 * i) & 63, 2, 3, 1));
      const float x = floatOf(run.given(t, 2 - i));
      const uint32_t sign = std::signbit(x) ? 1 : 0;
      CHECK((run.at(t, 3) >> (4 * i) & 15) == (nearest(x, 7, [](uint32_t c) { return minifloat(c, 2, 1, 1); }) | sign << 3));
      CHECK((run.at(t, 4) >> (8 * i) & 63) == (nearest(x, 31, [](uint32_t c) { return minifloat(c, 3, 2, 3); }) | sign << 5));
    }
  }
}

TEST_CASE("ue8m0: to bf16x2 and back") {
  const std::string body = kPair +
                           "%h = nvvm.convert.f8x2.to.bf16x2 %pair : vector<2xi8> (f8E8M0FNU) -> vector<2xbf16>\n%r0 = "
                           "llvm.bitcast %h : vector<2xbf16> to i32\n"
                           "%x = llvm.bitcast %a1 : i32 to f32\n%y = llvm.bitcast %a2 : i32 to f32\n"
                           "%up = nvvm.convert.f32x2.to.f8x2 %x, %y {rnd = #nvvm.fp_rnd_mode<rp>, sat = "
                           "#nvvm.sat_mode<satfinite>} : i16 (f8E8M0FNU)\n%r1 = llvm.zext %up : i16 to i32\n"
                           "%down = nvvm.convert.f32x2.to.f8x2 %x, %y {rnd = #nvvm.fp_rnd_mode<rz>, sat = "
                           "#nvvm.sat_mode<satfinite>} : i16 (f8E8M0FNU)\n%r2 = llvm.zext %down : i16 to i32\n";
  const LaneRun run = runLanes(3, 3, body, [](int t, int i) {
    return i == 0 ? static_cast<uint32_t>(8 * t) | 255u << 8 : bitsOf(std::ldexp(i == 1 ? 1.0f : 1.5f, 4 * t - 60));
  });
  for (int t = 0; t < 32; t++) {
    CHECK(floatOf(run.at(t, 0) << 16) == std::ldexp(1.0f, 8 * t - 127));
    CHECK(std::isnan(floatOf(run.at(t, 0) & 0xFFFF0000)));
    const uint32_t exponent = static_cast<uint32_t>(4 * t - 60 + 127);
    CHECK(run.at(t, 1) == (exponent << 8 | (exponent + 1)));
    CHECK(run.at(t, 2) == (exponent << 8 | exponent));
  }
}

TEST_CASE("f32x2 to f16x2 and bf16x2, f32 to tf32") {
  const std::string body =
      "%x = llvm.bitcast %a0 : i32 to f32\n%y = llvm.bitcast %a1 : i32 to f32\n"
      "%h = nvvm.convert.f32x2.to.f16x2 %x, %y {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xf16>\n%r0 = llvm.bitcast %h : "
      "vector<2xf16> to i32\n"
      "%w = nvvm.convert.f32x2.to.bf16x2 %x, %y {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>\n%r1 = llvm.bitcast %w : "
      "vector<2xbf16> to i32\n"
      "%r2 = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rn>}\n"
      "%r3 = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rna>}\n"
      "%v = llvm.insertelement %x, %pv[%c0 : i32] : vector<2xf32>\n"
      "%v2 = llvm.insertelement %y, %v[%c1 : i32] : vector<2xf32>\n"
      "%t = llvm.fptrunc %v2 : vector<2xf32> to vector<2xbf16>\n%r4 = llvm.bitcast %t : vector<2xbf16> to i32\n";
  Numbers numbers(6);
  const LaneRun run = runLanes(2, 5, "%pv = llvm.mlir.undef : vector<2xf32>\n" + body,
                               [&](int t, int) { return t == 3 ? 0x3F801000u : bitsOf(numbers.unit() * 100); });
  for (int t = 0; t < 32; t++) {
    for (int i = 0; i < 2; i++) {
      const float x = floatOf(run.given(t, 1 - i));
      CHECK((run.at(t, 1) >> (16 * i) & 0xFFFF) == toBF16(x));
      CHECK((run.at(t, 4) >> (16 * i) & 0xFFFF) == toBF16(floatOf(run.given(t, i))));
      const double half = minifloat(run.at(t, 0) >> (16 * i) & 0xFFFF, 5, 10, 15);
      CHECK(std::fabs(half - x) <= std::ldexp(1.0, std::ilogb(x) - 11));
    }
    const uint32_t x = run.given(t);
    CHECK(run.at(t, 2) == ((x + 0xFFF + (x >> 13 & 1)) & 0xFFFFE000));
    CHECK(run.at(t, 3) == ((x + 0x1000) & 0xFFFFE000));
  }
}

TEST_CASE("prmt: default mode with sign replication, and the other modes") {
  std::string body = "%r0 = nvvm.prmt #nvvm.permute_mode<default> %a2, %a0, %a1 : i32\n";
  body +=
      "%r1 = nvvm.prmt #nvvm.permute_mode<f4e> %a2, %a0, %a1 : i32\n%r2 = nvvm.prmt #nvvm.permute_mode<b4e> %a2, %a0, %a1 : "
      "i32\n";
  const char* one[] = {"rc8", "ecl", "ecr", "rc16"};
  for (int i = 0; i < 4; i++) body += fmt::format("%r{} = nvvm.prmt #nvvm.permute_mode<{}> %a2, %a0 : i32\n", 3 + i, one[i]);
  const LaneRun run = runLanes(3, 7, body, [](int t, int i) {
    return i == 0 ? 0x83A25110u + static_cast<uint32_t>(t) : i == 1 ? 0x97867564u : 0x7310u + static_cast<uint32_t>(t) * 0x2153u;
  });
  for (int t = 0; t < 32; t++) {
    const uint64_t bytes = run.given(t, 0) | static_cast<uint64_t>(run.given(t, 1)) << 32;
    const auto byte = [&](int i) { return static_cast<uint32_t>(bytes >> (8 * i) & 255); };
    const uint32_t selector = run.given(t, 2);
    uint32_t expected = 0;
    for (int i = 0; i < 4; i++) {
      const uint32_t n = selector >> (4 * i) & 15;
      expected |= (n & 8 ? (byte(static_cast<int>(n & 7)) >= 128 ? 255u : 0u) : byte(static_cast<int>(n))) << (8 * i);
    }
    CHECK(run.at(t, 0) == expected);
    const int c = static_cast<int>(selector & 3);
    const auto pick = [&](int b3, int b2, int b1, int b0) { return byte(b3) << 24 | byte(b2) << 16 | byte(b1) << 8 | byte(b0); };
    CHECK(run.at(t, 1) == pick(c + 3, c + 2, c + 1, c));
    CHECK(run.at(t, 2) == pick((c + 5) % 8, (c + 6) % 8, (c + 7) % 8, c));
    CHECK(run.at(t, 3) == pick(c, c, c, c));
    CHECK(run.at(t, 4) == pick(3, std::max(2, c), std::max(1, c), c));
    CHECK(run.at(t, 5) == pick(std::min(3, c), std::min(2, c), std::min(1, c), 0));
    const int h = c & 1 ? 2 : 0;
    CHECK(run.at(t, 6) == pick(h + 1, h, h + 1, h));
  }
}

TEST_CASE("ex2, lg2, rcp, rsqrt, sqrt") {
  struct Function {
    const char* name;
    double (*exact)(double);
    double limit;  // relative
  };
  const Function functions[] = {{"ex2.approx.ftz.f32", [](double x) { return std::exp2(x); }, 0x1p-22},
                                {"ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22},
                                {"lg2.approx.f", [](double x) { return std::log2(std::fabs(x)); }, 0x1p-22},
                                {"rcp.approx.ftz.f", [](double x) { return 1 / x; }, 0x1p-23},
                                {"rsqrt.approx.f", [](double x) { return 1 / std::sqrt(std::fabs(x)); }, 0x1p-22},
                                {"sqrt.approx.f", [](double x) { return std::sqrt(std::fabs(x)); }, 0x1p-22}};
  std::string body = "%x = llvm.bitcast %a0 : i32 to f32\n%m = llvm.intr.fabs(%x) : (f32) -> f32\n";
  for (int i = 0; i < 6; i++) {
    const bool positive = i == 2 || i >= 4;
    body += fmt::format("%f{0} = ", i) + call(functions[i].name, positive ? "%m" : "%x", "f32", "f32") +
            fmt::format("\n%r{0} = llvm.bitcast %f{0} : f32 to i32\n", i);
  }
  Numbers numbers(8);
  const LaneRun run = runLanes(1, 6, body, [&](int, int) { return bitsOf(numbers.unit() * 20); });
  for (int t = 0; t < 32; t++) {
    for (int i = 0; i < 6; i++) {
      const double expected = functions[i].exact(floatOf(run.given(t)));
      CHECK(std::fabs(floatOf(run.at(t, i)) - expected) <= std::fabs(expected) * functions[i].limit);
    }
  }
}

TEST_CASE("ex2 flushes and has its special values; 16-bit forms") {
  const std::string body =
      "%x = llvm.bitcast %a0 : i32 to f32\n"
      "%y = " +
      call("ex2.approx.ftz.f32", "%x", "f32", "f32") +
      "\n%r0 = llvm.bitcast %y : f32 to i32\n"
      "%w = llvm.bitcast %a1 : i32 to vector<2xbf16>\n%v = " +
      call("ex2.approx.ftz.v2bf16", "%w", "vector<2xbf16>", "vector<2xbf16>") +
      "\n%r1 = llvm.bitcast %v : vector<2xbf16> to i32\n"
      "%h = llvm.bitcast %a1 : i32 to vector<2xf16>\n%g = " +
      call("ex2.approx.v2f16", "%h", "vector<2xf16>", "vector<2xf16>") + "\n%r2 = llvm.bitcast %g : vector<2xf16> to i32\n";
  const float special[] = {-127.5f, -126.0f, 128.0f, -INFINITY, INFINITY, 0.0f, 1e-40f};
  const LaneRun run = runLanes(2, 3, body, [&](int t, int i) {
    return i == 0 ? bitsOf(special[t % 7]) : 0x40000000u | static_cast<uint32_t>(0x3F80 + t);
  });
  for (int t = 0; t < 32; t++) {
    const float expected[] = {0.0f, 0x1p-126f, INFINITY, 0.0f, INFINITY, 1.0f, 1.0f};
    CHECK(floatOf(run.at(t, 0)) == expected[t % 7]);
    CHECK(floatOf(run.at(t, 1) & 0xFFFF0000) == 4.0f);  // 2^2
    CHECK(floatOf(run.at(t, 1) << 16) ==
          doctest::Approx(std::exp2(floatOf((0x3F80u + static_cast<uint32_t>(t)) << 16))).epsilon(1.0 / 256));
    CHECK(minifloat(run.at(t, 2) >> 16, 5, 10, 15) == 4.0);  // f16 0x4000 is 2
  }
}

TEST_CASE("dp4a") {
  const std::string body =
      "%p = llvm.bitcast %a0 : i32 to vector<4xi8>\n%q = llvm.bitcast %a1 : i32 to vector<4xi8>\n"
      "%r0 = nvvm.dot.accumulate.4way %p <signed>, %q <signed>, %a2 : vector<4xi8>, vector<4xi8>\n"
      "%r1 = nvvm.dot.accumulate.4way %p <unsigned>, %q <signed>, %a2 : vector<4xi8>, vector<4xi8>\n";
  Numbers numbers(11);
  const LaneRun run = runLanes(3, 2, body, [&](int, int) { return numbers.bits() * 2u + (numbers.bits() & 1); });
  for (int t = 0; t < 32; t++) {
    int32_t both = 0, mixed = 0;
    for (int i = 0; i < 4; i++) {
      const uint32_t a = run.given(t, 0) >> (8 * i) & 255, b = run.given(t, 1) >> (8 * i) & 255;
      both += static_cast<int8_t>(a) * static_cast<int8_t>(b);
      mixed += static_cast<int>(a) * static_cast<int8_t>(b);
    }
    CHECK(run.at(t, 0) == run.given(t, 2) + static_cast<uint32_t>(both));
    CHECK(run.at(t, 1) == run.given(t, 2) + static_cast<uint32_t>(mixed));
  }
}
