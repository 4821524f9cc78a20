// Number formats: every code, every midpoint between neighbours, saturation and NaN.
#include "kernels_dsl/spec/formats.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

using namespace nereid::kernels;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("E4M3: each of the 256 codes decodes by its definition and encodes back") {
  for (int c = 0; c < 256; ++c) {
    CAPTURE(c);
    const float v = decodeE4M3(uint8_t(c));
    const int e = c >> 3 & 15, m = c & 7;
    if ((c & 0x7F) == 0x7F) {
      CHECK(std::isnan(v));
    } else {
      const double magnitude = e == 0 ? m / 512.0 : (1 + m / 8.0) * std::exp2(e - 7);
      CHECK(double(v) == (c & 0x80 ? -magnitude : magnitude));
      CHECK(std::signbit(v) == bool(c & 0x80));
    }
    CHECK(int(encodeE4M3(v)) == c);
  }
}

TEST_CASE("E4M3: midpoints go to the even code, and the floats beside them to the nearer one") {
  for (int c = 0; c < 0x7E; ++c) {
    CAPTURE(c);
    const float mid = (decodeE4M3(uint8_t(c)) + decodeE4M3(uint8_t(c + 1))) / 2;  // exact in float
    CHECK(int(encodeE4M3(mid)) == (c & 1 ? c + 1 : c));
    CHECK(int(encodeE4M3(std::nextafter(mid, 0.0f))) == c);
    CHECK(int(encodeE4M3(std::nextafter(mid, kInf))) == c + 1);
    CHECK(int(encodeE4M3(-mid)) == (0x80 | (c & 1 ? c + 1 : c)));
  }
}

TEST_CASE("E4M3: saturation, signed zero, NaN, tiny values") {
  for (float x : {448.0f, 449.0f, 464.0f, 480.0f, 1e30f, kInf}) {
    CHECK(int(encodeE4M3(x)) == 0x7E);
    CHECK(int(encodeE4M3(-x)) == 0xFE);
  }
  CHECK(int(encodeE4M3(0.0f)) == 0);
  CHECK(int(encodeE4M3(-0.0f)) == 0x80);
  CHECK((encodeE4M3(kNan) & 0x7F) == 0x7F);
  CHECK(int(encodeE4M3(1e-40f)) == 0);
  CHECK(int(encodeE4M3(std::ldexp(1.0f, -10))) == 0);  // half of the smallest subnormal: tie to even
  CHECK(int(encodeE4M3(std::nextafter(std::ldexp(1.0f, -10), 1.0f))) == 1);
}

TEST_CASE("UE8M0: each code, and rounding up to a power of two") {
  for (int c = 0; c < 255; ++c) {
    CAPTURE(c);
    CHECK(double(decodeUE8M0(uint8_t(c))) == std::exp2(c - 127));
    CHECK(int(encodeUE8M0(decodeUE8M0(uint8_t(c)))) == c);
  }
  CHECK(std::isnan(decodeUE8M0(255)));
  CHECK(int(encodeUE8M0(kNan)) == 255);
  CHECK(int(encodeUE8M0(1.5f)) == 128);
  CHECK(int(encodeUE8M0(std::nextafter(1.0f, 2.0f))) == 128);
  CHECK(int(encodeUE8M0(0.0f)) == 0);
  CHECK(int(encodeUE8M0(kInf)) == 254);
  CHECK(int(encodeUE8M0(std::numeric_limits<float>::max())) == 254);
}

TEST_CASE("bf16: each of the 65,536 codes comes back; midpoints go to even") {
  int wrong = 0;
  for (int c = 0; c < 0x10000; ++c) {
    const float v = decodeBF16(uint16_t(c));
    if (std::isnan(v))
      wrong += !std::isnan(decodeBF16(encodeBF16(v))) || std::signbit(v) != bool(encodeBF16(v) & 0x8000);
    else
      wrong += encodeBF16(v) != c;
  }
  CHECK(wrong == 0);
  for (int c = 0; c < 0x7F7F; ++c) {
    const float mid = std::bit_cast<float>(uint32_t(c) << 16 | 0x8000);
    wrong += encodeBF16(mid) != (c & 1 ? c + 1 : c);
    wrong += encodeBF16(std::bit_cast<float>(uint32_t(c) << 16 | 0x7FFF)) != c;
    wrong += encodeBF16(std::bit_cast<float>(uint32_t(c) << 16 | 0x8001)) != c + 1;
  }
  CHECK(wrong == 0);
  CHECK(encodeBF16(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(encodeBF16(-kInf) == 0xFF80);
}

TEST_CASE("bf16 from double rounds once") {
  // Just above the midpoint of 1 and its successor, by less than float keeps: through float it would be a tie.
  const double x = 1.0 + std::exp2(-8) + std::exp2(-40);
  CHECK(encodeBF16(x) == 0x3F81);
  CHECK(encodeBF16(float(x)) == 0x3F80);
  CHECK(encodeBF16(-x) == 0xBF81);
  CHECK(encodeBF16(1e300) == 0x7F80);
  CHECK(encodeBF16(1e-300) == 0);
}

TEST_CASE("f16: each of the 65,536 codes comes back; midpoints go to even") {
  int wrong = 0;
  for (int c = 0; c < 0x10000; ++c) {
    const float v = decodeF16(uint16_t(c));
    if (std::isnan(v))
      wrong += (encodeF16(v) & 0x7C00) != 0x7C00 || (encodeF16(v) & 0x3FF) == 0;
    else
      wrong += encodeF16(v) != c;
  }
  CHECK(wrong == 0);
  for (int c = 0; c < 0x7BFF; ++c) {
    const float mid = (decodeF16(uint16_t(c)) + decodeF16(uint16_t(c + 1))) / 2;  // exact in float
    wrong += encodeF16(mid) != (c & 1 ? c + 1 : c);
    wrong += encodeF16(std::nextafter(mid, 0.0f)) != c;
    wrong += encodeF16(std::nextafter(mid, kInf)) != c + 1;
  }
  CHECK(wrong == 0);
  CHECK(decodeF16(0x3C00) == 1.0f);
  CHECK(decodeF16(1) == std::ldexp(1.0f, -24));
  CHECK(encodeF16(65519.0f) == 0x7BFF);
  CHECK(encodeF16(65520.0f) == 0x7C00);
}
