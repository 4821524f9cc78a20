#include "compiler/emulator/number_formats.h"

#include <array>
#include <memory>

namespace nereid::emulator {
namespace {

uint32_t largestFinite(const NarrowFormat& f) {
  const uint32_t all = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
  switch (f.specials) {
    case NarrowFormat::Specials::kIeee: return all - (1u << f.mantissa_bits);
    case NarrowFormat::Specials::kOneNan: return all - 1;
    default: return all;
  }
}

uint32_t nanCode(const NarrowFormat& f) {
  // The GPU's canonical NaN has all bits below the sign set (f16 7FFF, bf16 7FFF, e4m3 7F, e5m2 7F).
  return f.specials == NarrowFormat::Specials::kNone ? largestFinite(f) : (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
}

double roundTo(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero: return std::trunc(value);
    case Rounding::kUp: return std::ceil(value);
    default: {
      // Ties to even, whatever the floating-point environment.
      double floor = std::floor(value), rest = value - floor;
      if (rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) != 0.0)) return floor + 1;
      return floor;
    }
  }
}

}  // namespace

float decodeNarrow(const NarrowFormat& f, uint32_t bits) {
  const uint32_t sign = bits >> (f.bits() - 1) & 1;
  const uint32_t exponent = bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
  const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const bool top = exponent == (1u << f.exponent_bits) - 1;
  float value;
  if (top && f.specials == NarrowFormat::Specials::kIeee) {
    value = mantissa ? NAN : INFINITY;
  } else if (top && f.specials == NarrowFormat::Specials::kOneNan && mantissa == (1u << f.mantissa_bits) - 1) {
    value = NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  } else {
    value =
        std::ldexp(static_cast<float>(mantissa + (1u << f.mantissa_bits)), static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  }
  return sign ? -value : value;
}

uint32_t encodeNarrow(const NarrowFormat& f, double value, bool saturate, Rounding rounding) {
  const uint32_t sign = std::signbit(value) ? 1u << (f.bits() - 1) : 0;
  if (std::isnan(value)) return nanCode(f);
  const double magnitude = std::fabs(value);
  const uint32_t finite = largestFinite(f);
  const uint32_t overflow = saturate || f.specials == NarrowFormat::Specials::kNone ? finite
                            : f.specials == NarrowFormat::Specials::kIeee           ? finite + 1
                                                                                    : nanCode(f);
  if (std::isinf(magnitude)) return sign | overflow;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  const int lowest = 1 - f.bias;
  if (exponent < lowest) exponent = lowest;
  // In units of the last place at this exponent; rounding up to the next power of two carries into the exponent field by itself.
  const double units = roundTo(std::ldexp(magnitude, f.mantissa_bits - exponent), rounding);
  const uint32_t code = static_cast<uint32_t>(units) + (static_cast<uint32_t>(exponent - lowest) << f.mantissa_bits);
  if (exponent - lowest > 1 << f.exponent_bits || code > finite) {
    return sign | (rounding == Rounding::kZero ? finite : overflow);
  }
  return sign | code;
}

uint32_t encodeNarrow(const NarrowFormat& format, double value, bool saturate) {
  return encodeNarrow(format, value, saturate, Rounding::kNearest);
}

float decodeUe8m0(uint32_t code) {
  if ((code & 255) == 255) return NAN;
  return std::ldexp(1.0f, static_cast<int>(code & 255) - 127);
}

uint32_t encodeUe8m0(float value, Rounding rounding) {
  if (std::isnan(value)) return 255;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(magnitude)) return 254;
  if (magnitude == 0) return 0;
  int exponent = std::ilogb(magnitude);
  if (rounding == Rounding::kUp && std::ldexp(1.0, exponent) < magnitude) exponent++;
  const int code = exponent + 127;
  return static_cast<uint32_t>(code < 0 ? 0 : code > 254 ? 254 : code);
}

float f16ToFloat(uint32_t bits) {
  static const std::unique_ptr<float[]> table = [] {
    auto values = std::make_unique<float[]>(1 << 16);
    for (uint32_t i = 0; i < 1 << 16; i++) values[i] = decodeNarrow(kF16, i);
    return values;
  }();
  return table[bits & 0xFFFF];
}

}  // namespace nereid::emulator
