// Narrow formats: every code against the formats' definitions, and rounding at ties and limits.
#include <doctest/doctest.h>

#include <cmath>

#include "compiler/emulator/float_columns.h"
#include "compiler/emulator/number_formats.h"

using namespace nereid::emulator;

namespace {

// Value of a code from the definition: (-1)^s 2^(e-bias) 1.m, or 2^(1-bias) 0.m.
double valueOf(int e_bits, int m_bits, int bias, uint32_t code) {
  const uint32_t m = code & ((1u << m_bits) - 1), e = code >> m_bits & ((1u << e_bits) - 1);
  const double fraction = static_cast<double>(m) / (1 << m_bits);
  const double magnitude =
      e == 0 ? std::pow(2.0, 1 - bias) * fraction : std::pow(2.0, static_cast<double>(e) - bias) * (1 + fraction);
  return code >> (e_bits + m_bits) & 1 ? -magnitude : magnitude;
}

struct Case {
  const char* name;
  NarrowFormat format;
  uint32_t first_special;  // codes without sign from here on are Inf or NaN
};
const Case kCases[] = {{"f16", kF16, 0x7C00}, {"bf16", kBF16, 0x7F80}, {"e5m2", kE5M2, 0x7C}, {"e4m3", kE4M3, 0x7F},
                       {"e3m2", kE3M2, 32},   {"e2m3", kE2M3, 32},     {"e2m1", kE2M1, 8}};

}  // namespace

TEST_CASE("decode every code, encode it back, round halfway to even") {
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    const uint32_t sign = 1u << (c.format.bits() - 1);
    for (uint32_t code = 0; code < c.first_special; code++) {
      const double value = valueOf(c.format.exponent_bits, c.format.mantissa_bits, c.format.bias, code);
      CHECK(decodeNarrow(c.format, code) == static_cast<float>(value));
      CHECK(decodeNarrow(c.format, code | sign) == static_cast<float>(-value));
      CHECK(encodeNarrow(c.format, value, false) == code);
      CHECK(encodeNarrow(c.format, -value, true) == (code | sign));
      if (code + 1 == c.first_special) continue;
      const double next = valueOf(c.format.exponent_bits, c.format.mantissa_bits, c.format.bias, code + 1);
      CHECK(encodeNarrow(c.format, (value + next) / 2, false) == (code % 2 == 0 ? code : code + 1));
      CHECK(encodeNarrow(c.format, value * 0.51 + next * 0.49, false) == code);
      CHECK(encodeNarrow(c.format, value * 0.49 + next * 0.51, false) == code + 1);
      CHECK(encodeNarrow(c.format, value * 0.1 + next * 0.9, false, Rounding::kZero) == code);
    }
  }
}

TEST_CASE("specials") {
  for (uint32_t code : {0x7Fu, 0xFFu}) CHECK(std::isnan(decodeNarrow(kE4M3, code)));
  CHECK(decodeNarrow(kE4M3, 0x7E) == 448);
  CHECK(encodeNarrow(kE4M3, 464, true) == 0x7E);
  CHECK(encodeNarrow(kE4M3, 1e30, true) == 0x7E);
  CHECK(encodeNarrow(kE4M3, -INFINITY, true) == 0xFE);
  CHECK((encodeNarrow(kE4M3, NAN, true) & 0x7F) == 0x7F);
  CHECK(encodeNarrow(kE5M2, 1e9, true) == 0x7B);
  CHECK(encodeNarrow(kE5M2, 1e9, false) == 0x7C);
  CHECK(std::isinf(decodeNarrow(kE5M2, 0xFC)));
  CHECK(std::isnan(decodeNarrow(kF16, 0x7C01)));
  CHECK(encodeNarrow(kF16, 65519, false) == 0x7BFF);
  CHECK(encodeNarrow(kF16, 65520, false) == 0x7C00);
  CHECK(encodeNarrow(kE2M1, 100, true) == 7);  // 6
  CHECK(decodeNarrow(kE2M1, 7) == 6);
  CHECK(encodeNarrow(kF16, -0.0, false) == 0x8000);
}

TEST_CASE("ue8m0") {
  for (uint32_t code = 0; code < 255; code++) {
    CHECK(decodeUe8m0(code) == std::pow(2.0, static_cast<double>(code) - 127));
    CHECK(encodeUe8m0(decodeUe8m0(code), Rounding::kUp) == code);
    if (code > 0 && code < 254) {
      CHECK(encodeUe8m0(decodeUe8m0(code) * 1.25f, Rounding::kUp) == code + 1);
      CHECK(encodeUe8m0(decodeUe8m0(code) * 1.25f, Rounding::kZero) == code);
    }
  }
  CHECK(std::isnan(decodeUe8m0(255)));
  CHECK(encodeUe8m0(NAN, Rounding::kUp) == 255);
}

TEST_CASE("the fast f16 and bf16 encoders agree with the general one") {
  uint32_t bits = 12345;
  for (int i = 0; i < 2000000; i++) {
    bits = bits * 1664525 + 1013904223;
    const float value = bitsToFloat(bits);
    if (std::isnan(value)) continue;
    if (encodeF16(value) != encodeNarrow(kF16, value, false)) FAIL("f16 of bits ", bits);
    if (encodeBF16(value) != encodeNarrow(kBF16, value, false)) FAIL("bf16 of bits ", bits);
  }
  for (uint32_t code = 0; code < 0x7C00; code++) {
    const float value = f16ToFloat(code), next = f16ToFloat(code + 1);
    if (code + 1 < 0x7C00) CHECK(encodeF16((value + next) / 2) == (code % 2 == 0 ? code : code + 1));
    CHECK(encodeF16(value) == code);
  }
}
