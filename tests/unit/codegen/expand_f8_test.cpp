// Eight-bit floats on the CPU against their definitions: every code, and every rounding of a dense set of values.
#include "compiler/host/expand_f8.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>

#include "tests/unit/codegen/host_fixtures.h"

using namespace nereid;
using namespace nereid::compiler;
using namespace nereid::compiler::test;

namespace {

// The definition: sign, four bits of exponent with bias 7, three of mantissa; all ones is NaN, no infinity.
float e4m3Value(int code) {
  int exponent = (code >> 3) & 15, mantissa = code & 7;
  if ((code & 0x7F) == 0x7F) return std::nanf("");
  float magnitude =
      exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9) : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

// The nearest code by search; ties to the even code.
int e4m3Nearest(float x) {
  if (std::isnan(x)) return 0x7F;
  int best = 0;
  for (int code = 1; code < 0x7F; code++) {
    double d = std::abs(std::abs(static_cast<double>(x)) - e4m3Value(code)),
           b = std::abs(std::abs(static_cast<double>(x)) - e4m3Value(best));
    if (d < b || (d == b && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(x) ? 0x80 : 0);
}

HostCode toE4m3() {
  return buildOrFail(unary("%q = arith.truncf %x : f32 to f8E4M3FN\n %r = arith.bitcast %q : f8E4M3FN to i8", "f32", "i8"), "k");
}

}  // namespace

TEST_CASE("E4M3 to f32, f16 and bf16: all codes") {
  HostCode code =
      buildOrFail(unary("%q = arith.bitcast %x : i8 to f8E4M3FN\n %r = arith.extf %q : f8E4M3FN to f32", "i8", "f32"), "k");
  HostCode half = buildOrFail(unary("%q = arith.bitcast %x : i8 to f8E4M3FN\n %h = arith.extf %q : f8E4M3FN to f16\n"
                                    "%r = arith.extf %h : f16 to f32",
                                    "i8", "f32"),
                              "k");
  HostCode brain = buildOrFail(unary("%q = arith.bitcast %x : i8 to f8E4M3FN\n %h = arith.extf %q : f8E4M3FN to bf16\n"
                                     "%r = arith.extf %h : bf16 to f32",
                                     "i8", "f32"),
                               "k");
  for (int c = 0; c < 256; c++) {
    INFO(c);
    for (const HostCode* each : {&code, &half, &brain}) {
      float value = call<float>(*each, static_cast<uint8_t>(c));
      if ((c & 0x7F) == 0x7F) {
        CHECK(std::isnan(value));
      } else {
        CHECK(std::bit_cast<uint32_t>(value) == std::bit_cast<uint32_t>(e4m3Value(c)));
      }
    }
  }
}

TEST_CASE("vectors of E4M3") {
  HostCode code = buildOrFail(unary("%q = arith.bitcast %x : vector<16xi8> to vector<16xf8E4M3FN>\n"
                                    "%r = arith.extf %q : vector<16xf8E4M3FN> to vector<16xf32>",
                                    "vector<16xi8>", "vector<16xf32>"),
                              "k");
  alignas(64) std::array<uint8_t, 16> in;
  alignas(64) std::array<float, 16> out;
  ArgSlot args[2];
  args[0].pointer = in.data();
  args[1].pointer = out.data();
  for (int base = 0; base < 256; base += 16) {
    for (int i = 0; i < 16; i++) in[i] = static_cast<uint8_t>(base + i);
    code.entry(args, 0);
    for (int i = 0; i < 16; i++) {
      float expected = e4m3Value(base + i);
      CHECK((std::isnan(expected) ? std::isnan(out[i]) : out[i] == expected));
    }
  }
}

TEST_CASE("f32 to E4M3: codes, neighbours of each midpoint, tails") {
  HostCode code = toE4m3();
  auto check = [&](float x) {
    INFO(x);
    CHECK(static_cast<int>(call<uint8_t>(code, x)) == e4m3Nearest(x));
  };
  for (int c = 0; c < 0x7F; c++) {
    for (float sign : {1.0f, -1.0f}) {
      check(sign * e4m3Value(c));
      if (c == 0x7E) continue;
      float middle = (e4m3Value(c) + e4m3Value(c + 1)) / 2;
      check(sign * middle);
      check(sign * std::nextafter(middle, 0.0f));
      check(sign * std::nextafter(middle, 1000.0f));
    }
  }
  for (float x : {449.0f, 464.0f, 480.0f, 1e30f, -1e30f, 1e-30f, -1e-30f, 1e-45f}) check(x);
  CHECK(call<uint8_t>(code, INFINITY) == 0x7E);
  CHECK(call<uint8_t>(code, -INFINITY) == 0xFE);
  CHECK((call<uint8_t>(code, std::nanf("")) & 0x7F) == 0x7F);
}

TEST_CASE("E8M0: powers of two, 0 is 2^-127, 255 is NaN; and back") {
  HostCode from =
      buildOrFail(unary("%q = arith.bitcast %x : i8 to f8E8M0FNU\n %r = arith.extf %q : f8E8M0FNU to f32", "i8", "f32"), "k");
  HostCode to =
      buildOrFail(unary("%q = arith.truncf %x : f32 to f8E8M0FNU\n %r = arith.bitcast %q : f8E8M0FNU to i8", "f32", "i8"), "k");
  for (int c = 0; c < 255; c++) {
    CHECK(call<float>(from, static_cast<uint8_t>(c)) == std::ldexp(1.0f, c - 127));
    CHECK(call<uint8_t>(to, std::ldexp(1.0f, c - 127)) == c);
  }
  CHECK(std::isnan(call<float>(from, uint8_t{255})));
  CHECK(call<uint8_t>(to, std::nanf("")) == 255);
  CHECK(call<uint8_t>(to, 1.49f) == 127);
  CHECK(call<uint8_t>(to, 1.5f) == 128);
  CHECK(call<uint8_t>(to, 3e38f) == 254);
  CHECK(call<uint8_t>(to, 0.0f) == 0);
}
