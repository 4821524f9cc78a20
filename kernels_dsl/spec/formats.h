// Number formats of caches and tensors, exact and in scalar code: what references, tests and host code decode and encode with.
#pragma once
#include <bit>
#include <cstdint>

namespace nereid::kernels {

// E4M3 (OCP 8-bit floating point, "e4m3fn"): bias 7, no infinities, 0x7F and 0xFF are NaN, largest value 448.
inline constexpr float kE4M3Max = 448.0f;
float decodeE4M3(uint8_t code);
// Nearest value, ties to the even code; beyond 448 (and infinities) saturate; NaN is 0x7F with the sign of x.
uint8_t encodeE4M3(float x);

// UE8M0 (OCP microscaling scale): 2^(code − 127); code 0 is 2^−127 (a subnormal float), 255 is NaN.
float decodeUE8M0(uint8_t code);
// The code of a power of two from 2^−127 to 2^127. Other values round up to the next power of two and clamp; NaN is 255.
uint8_t encodeUE8M0(float x);

inline float decodeBF16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
// Nearest, ties to even, overflow to infinity; a NaN keeps its sign and becomes quiet.
uint16_t encodeBF16(float x);
// From double with one rounding. Going through float would round twice.
uint16_t encodeBF16(double x);

float decodeF16(uint16_t bits);
// Nearest, ties to even, overflow to infinity, subnormals kept; a NaN keeps its sign and becomes quiet.
uint16_t encodeF16(float x);

}  // namespace nereid::kernels
