#include "compiler/host/host_symbols.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// Compiler runtime, present in libgcc and compiler-rt.
extern "C" {
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
}

namespace nereid::compiler {
namespace {

// bf16 in the register class of half (the low 16 bits of a vector register), which is how LLVM calls these on x86-64 and AArch64.
// libgcc has them from version 13 only. Round to nearest, ties to even; NaN stays NaN.
_Float16 truncToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = std::isnan(value) ? (bits >> 16) | 0x40 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return std::bit_cast<_Float16>(static_cast<uint16_t>(rounded));
}
// Through float by rounding to odd, so that the second rounding is exact.
_Float16 truncDoubleToBf16(double value) {
  float near = static_cast<float>(value);
  if (!std::isnan(value) && static_cast<double>(near) != value) {
    uint32_t bits = std::bit_cast<uint32_t>(near);
    bool away = std::abs(static_cast<double>(near)) > std::abs(value);
    if (away) bits--;
    near = std::bit_cast<float>(bits | 1);
  }
  return truncToBf16(near);
}

template <typename F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

// X(function) with a float and a double form; Y(function) with one form.
// clang-format off: it has no stable form for these lines
#define NEREID_LIBM(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(cbrt) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) \
  X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(floor) X(ceil) X(trunc) X(round) X(rint) X(nearbyint) X(roundeven)
// clang-format on
#define NEREID_LIBM_TWO(X) X(pow) X(atan2) X(fmod) X(fmax) X(fmin)

extern "C" {
float roundevenf(float) noexcept;
double roundeven(double) noexcept;
}

const HostSymbol kSymbols[] = {
#define X(name) {#name "f", address<float(float)>(::name##f)}, {#name, address<double(double)>(::name)},
    NEREID_LIBM(X)
#undef X
#define X(name) {#name "f", address<float(float, float)>(::name##f)}, {#name, address<double(double, double)>(::name)},
        NEREID_LIBM_TWO(X)
#undef X
            {"fmaf", address<float(float, float, float)>(::fmaf)},
    {"fma", address<double(double, double, double)>(::fma)},
    {"ldexpf", address<float(float, int)>(::ldexpf)},
    {"ldexp", address<double(double, int)>(::ldexp)},
    {"malloc", address<void*(size_t)>(std::malloc)},
    {"free", address<void(void*)>(std::free)},
    {"aligned_alloc", address<void*(size_t, size_t)>(::aligned_alloc)},
    {"memcpy", address<void*(void*, const void*, size_t)>(std::memcpy)},
    {"memmove", address<void*(void*, const void*, size_t)>(std::memmove)},
    {"memset", address<void*(void*, int, size_t)>(std::memset)},
    {"__extendhfsf2", address(__extendhfsf2)},
    {"__truncsfhf2", address(__truncsfhf2)},
    {"__truncdfhf2", address(__truncdfhf2)},
    {"__truncsfbf2", address(truncToBf16)},
    {"__truncdfbf2", address(truncDoubleToBf16)},
};

}  // namespace

std::span<const HostSymbol> hostSymbols() { return kSymbols; }

}  // namespace nereid::compiler
