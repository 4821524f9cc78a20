// The four float formats of registers: bits in a column ↔ values to compute with.
#pragma once
#include <bit>
#include <cmath>

#include "compiler/emulator/number_formats.h"

namespace nereid::emulator {

// Nearest even, in integer arithmetic where the result is normal.
inline uint32_t encodeF16(float value) {
  const uint32_t bits = floatToBits(value), magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x38800000 && magnitude < 0x477FE000) {
    return (bits >> 16 & 0x8000) | ((magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13);
  }
  return encodeNarrow(kF16, value, false);
}
inline uint32_t encodeBF16(float value) {
  const uint32_t bits = floatToBits(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// decode/encode: values in f32 (f64 for f64), enough for one rounding of +, -, ·, / and sqrt. widen/encodeWide: through f64.
struct ColumnF32 {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x80000000, kQuiet = 0x00400000;
  static constexpr double kSmallestNormal = 0x1p-126;
  static float decode(Bits x) { return std::bit_cast<float>(x); }
  static Bits encode(float x) { return std::bit_cast<Bits>(x); }
  static float widen(Bits x) { return decode(x); }
  static Bits encodeWide(double x) { return encode(static_cast<float>(x)); }
  static Bits encodeWide(float x) { return encode(x); }
  template <typename I>
  static Bits encodeInteger(I x) {
    return encode(static_cast<float>(x));
  }
};
struct ColumnF64 {
  using Bits = uint64_t;
  static constexpr Bits kSign = uint64_t{1} << 63, kQuiet = uint64_t{1} << 51;
  static constexpr double kSmallestNormal = 0x1p-1022;
  static double decode(Bits x) { return std::bit_cast<double>(x); }
  static Bits encode(double x) { return std::bit_cast<Bits>(x); }
  static double widen(Bits x) { return decode(x); }
  static Bits encodeWide(double x) { return encode(x); }
  template <typename I>
  static Bits encodeInteger(I x) {
    return encode(static_cast<double>(x));
  }
};
struct ColumnF16 {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x8000, kQuiet = 0x0200;
  static constexpr double kSmallestNormal = 0x1p-14;
  static float decode(Bits x) { return f16ToFloat(x); }
  static Bits encode(float x) { return encodeF16(x); }
  static double widen(Bits x) { return f16ToFloat(x); }
  static Bits encodeWide(double x) { return encodeNarrow(kF16, x, false); }
  static Bits encodeWide(float x) { return encodeF16(x); }
  template <typename I>
  static Bits encodeInteger(I x) {
    return encodeWide(static_cast<double>(x));
  }
};
struct ColumnBF16 {
  using Bits = uint32_t;
  static constexpr Bits kSign = 0x8000, kQuiet = 0x0040;
  static constexpr double kSmallestNormal = 0x1p-126;
  static float decode(Bits x) { return bf16ToFloat(x); }
  static Bits encode(float x) { return encodeBF16(x); }
  static double widen(Bits x) { return bf16ToFloat(x); }
  static Bits encodeWide(double x) { return encodeNarrow(kBF16, x, false); }
  static Bits encodeWide(float x) { return encodeBF16(x); }
  template <typename I>
  static Bits encodeInteger(I x) {
    return encodeWide(static_cast<double>(x));
  }
};

}  // namespace nereid::emulator
