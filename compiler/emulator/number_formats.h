// Narrow float formats as the GPU converts them: bits ↔ float. Sources: IEEE 754 (f16), OCP "8-bit Floating Point Specification"
// and "Microscaling Formats (MX)", PTX ISA 8.8 "Alternate Floating-Point Data Formats" and "cvt".
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace nereid::emulator {

// One narrow format with an implicit leading bit.
struct NarrowFormat {
  int exponent_bits, mantissa_bits;
  int bias;
  enum class Specials { kIeee, kOneNan, kNone } specials;  // Inf and NaN; only all ones is NaN (e4m3); none (4 and 6 bits)
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};
inline constexpr NarrowFormat kF16{5, 10, 15, NarrowFormat::Specials::kIeee};
inline constexpr NarrowFormat kBF16{8, 7, 127, NarrowFormat::Specials::kIeee};
inline constexpr NarrowFormat kE5M2{5, 2, 15, NarrowFormat::Specials::kIeee};
inline constexpr NarrowFormat kE4M3{4, 3, 7, NarrowFormat::Specials::kOneNan};
inline constexpr NarrowFormat kE3M2{3, 2, 3, NarrowFormat::Specials::kNone};
inline constexpr NarrowFormat kE2M3{2, 3, 1, NarrowFormat::Specials::kNone};
inline constexpr NarrowFormat kE2M1{2, 1, 1, NarrowFormat::Specials::kNone};

// Exact.
float decodeNarrow(const NarrowFormat& format, uint32_t bits);
// Nearest, ties to even. `saturate`: too large values and infinities become the largest finite one (satfinite). NaN becomes the
// format's canonical NaN; in formats without NaN the largest finite value (PTX: cvt to e2m1, e2m3, e3m2 with satfinite).
uint32_t encodeNarrow(const NarrowFormat& format, double value, bool saturate);
enum class Rounding { kNearest, kZero, kUp };
uint32_t encodeNarrow(const NarrowFormat& format, double value, bool saturate, Rounding rounding);

// 2^(code-127); 255 is NaN.
float decodeUe8m0(uint32_t code);
uint32_t encodeUe8m0(float value, Rounding rounding);  // of |value|; saturates to 254, NaN is 255

inline float bitsToFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t floatToBits(float value) { return std::bit_cast<uint32_t>(value); }
inline float bf16ToFloat(uint32_t bits) { return bitsToFloat(bits << 16); }
float f16ToFloat(uint32_t bits);  // by table

// Canonical NaN of the GPU's f32 instructions.
inline constexpr uint32_t kCanonicalNan = 0x7FFFFFFF;

}  // namespace nereid::emulator
