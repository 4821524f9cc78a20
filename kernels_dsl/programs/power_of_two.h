// Powers of two by the exponent field of f32: exact scale factors. Values may be scalars or tiles.
#pragma once
#include "compiler/dsl/dsl.h"

namespace nereid::kernels {

inline constexpr int kExponentOne = 127, kMantissaBits = 23;  // f32: exponent field of 1.0, bits below it

// floor(log2 x) of a positive number; −127 for zero and subnormal numbers.
inline dsl::Value exponentOf(const dsl::Value& x) { return (bitcast(x, dsl::Type::I32) >> kMantissaBits) - kExponentOne; }
// 2^exponent for −126 … 127.
inline dsl::Value powerOfTwo(const dsl::Value& exponent) {
  return bitcast((exponent + kExponentOne) << kMantissaBits, dsl::Type::F32);
}

// Bits of a positive number: those of the power of two at or above it.
inline dsl::Value powerAbove(const dsl::Value& bits) { return (bits + 0x007fffff) & 0x7f800000; }
// Bits of a power of two, kept from 2^-126 to 2^126, and the number whose product with it is 1.
inline dsl::Value clampPower(const dsl::Value& bits) { return min(max(bits, 1 << kMantissaBits), 253 << kMantissaBits); }
inline dsl::Value reciprocalPower(const dsl::Value& bits) { return bitcast((254 << kMantissaBits) - bits, dsl::Type::F32); }

}  // namespace nereid::kernels
