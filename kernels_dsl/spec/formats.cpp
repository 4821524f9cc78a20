// Each encoder rounds the magnitude by integer arithmetic on its bits, so that ties are exact.
#include "kernels_dsl/spec/formats.h"

#include <array>
#include <cmath>
#include <limits>

namespace nereid::kernels {
namespace {

// v / 2^shift to the nearest integer, ties to even; shift < 64.
uint64_t roundShift(uint64_t v, int shift) {
  if (shift <= 0) return v << -shift;
  const uint64_t low = v & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1), kept = v >> shift;
  return kept + (low > half || (low == half && (kept & 1)));
}

// Code of |x| in a format of `mantissa` bits and exponent bias `bias`, without regard to its largest value. The code of a number
// is monotonic in it, and a carry out of the mantissa moves to the next exponent by itself.
uint64_t encodeMagnitude(double x, int mantissa, int bias) {
  const uint64_t bits = std::bit_cast<uint64_t>(std::fabs(x));
  const int exponent = int(bits >> 52);
  if (exponent == 0) return 0;  // a subnormal double is far below half of any format's smallest value
  const uint64_t significand = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  const int e = exponent - 1023 + bias;  // biased exponent in the format
  if (e >= 1) return (uint64_t(e - 1) << mantissa) + roundShift(significand, 52 - mantissa);
  const int shift = 52 - mantissa + 1 - e;
  return shift > 60 ? 0 : roundShift(significand, shift);
}

}  // namespace

float decodeE4M3(uint8_t code) {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> t{};
    for (int c = 0; c < 256; ++c) {
      const int e = c >> 3 & 15, m = c & 7;
      float v = e ? std::ldexp(1.0f + m / 8.0f, e - 7) : std::ldexp(float(m), -9);
      if ((c & 0x7F) == 0x7F) v = std::numeric_limits<float>::quiet_NaN();
      t[c] = c & 0x80 ? -v : v;
    }
    return t;
  }();
  return table[code];
}

uint8_t encodeE4M3(float x) {
  const uint8_t sign = std::signbit(x) ? 0x80 : 0;
  if (std::isnan(x)) return sign | 0x7F;
  const uint64_t code = std::isinf(x) ? 0x7E : encodeMagnitude(x, 3, 7);
  return sign | uint8_t(code < 0x7E ? code : 0x7E);
}

float decodeUE8M0(uint8_t code) {
  return code == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, int(code) - 127);
}

uint8_t encodeUE8M0(float x) {
  if (std::isnan(x)) return 255;
  if (!(x > std::ldexp(1.0f, -127))) return 0;
  if (std::isinf(x)) return 254;
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);  // x = fraction · 2^exponent, 0.5 ≤ fraction < 1
  const int e = fraction == 0.5f ? exponent - 1 : exponent;
  return uint8_t(e + 127 < 254 ? e + 127 : 254);
}

uint16_t encodeBF16(float x) { return encodeBF16(double{x}); }

uint16_t encodeBF16(double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return sign | 0x7FC0;
  const uint64_t code = std::isinf(x) ? 0x7F80 : encodeMagnitude(x, 7, 127);
  return sign | uint16_t(code < 0x7F80 ? code : 0x7F80);
}

float decodeF16(uint16_t bits) {
  const int e = bits >> 10 & 31, m = bits & 1023;
  float v;
  if (e == 31)
    v = m ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else
    v = e ? std::ldexp(1024.0f + m, e - 25) : std::ldexp(float(m), -24);
  return bits & 0x8000 ? -v : v;
}

uint16_t encodeF16(float x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return sign | 0x7E00;
  const uint64_t code = std::isinf(x) ? 0x7C00 : encodeMagnitude(x, 10, 15);
  return sign | uint16_t(code < 0x7C00 ? code : 0x7C00);
}

}  // namespace nereid::kernels
