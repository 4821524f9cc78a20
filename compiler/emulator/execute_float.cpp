// Arithmetic of f16, bf16, f32 and f64: round to nearest even, one rounding an op.
#include <cmath>

#include "compiler/emulator/float_columns.h"
#include "compiler/emulator/handlers.h"
#include "compiler/emulator/warp.h"

namespace nereid::emulator {

// execute_integer.cpp
Handler integerBinaryHandler(Binary op, Scalar type);
Handler integerUnaryHandler(Unary op, Scalar type);
Handler funnelHandler(bool left, Scalar type);
Handler resizeHandler(bool sign, Scalar from, Scalar to);

namespace {

template <typename F, typename Function>
Flow floatBinary(const Op& op, Warp& w) {
  auto* r = w.column<typename F::Bits>(op.result);
  const auto *a = w.column<typename F::Bits>(op.a), *b = w.column<typename F::Bits>(op.b);
  forLanes(w, [=](int l) { r[l] = F::encode(Function{}(F::decode(a[l]), F::decode(b[l]))); });
  return Flow::kNext;
}

template <typename F, typename Function>
Flow floatUnary(const Op& op, Warp& w) {
  auto* r = w.column<typename F::Bits>(op.result);
  const auto* a = w.column<typename F::Bits>(op.a);
  forLanes(w, [=](int l) { r[l] = F::encode(Function{}(F::decode(a[l]))); });
  return Flow::kNext;
}

// Sign operations do not touch the other bits, of NaNs either.
template <typename F, Unary kOp>
Flow floatSign(const Op& op, Warp& w) {
  using Bits = typename F::Bits;
  auto* r = w.column<Bits>(op.result);
  const auto* a = w.column<Bits>(op.a);
  forLanes(w, [=](int l) { r[l] = kOp == Unary::kFNeg ? a[l] ^ F::kSign : static_cast<Bits>(a[l] & ~F::kSign); });
  return Flow::kNext;
}

template <typename F>
Flow copySign(const Op& op, Warp& w) {
  using Bits = typename F::Bits;
  auto* r = w.column<Bits>(op.result);
  const auto *a = w.column<Bits>(op.a), *b = w.column<Bits>(op.b);
  forLanes(w, [=](int l) { r[l] = static_cast<Bits>((a[l] & ~F::kSign) | (b[l] & F::kSign)); });
  return Flow::kNext;
}

struct FAdd {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct FSub {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct FMul {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct FDiv {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct FRem {
  template <typename T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};
// min and max of PTX: a NaN loses; -0 is below +0.
struct FMinNum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) ? b : std::isnan(b) ? a : a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct FMaxNum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) ? b : std::isnan(b) ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
struct FMinimum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? static_cast<T>(NAN) : FMinNum{}(a, b);
  }
};
struct FMaximum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? static_cast<T>(NAN) : FMaxNum{}(a, b);
  }
};
struct FSqrt {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct FFloor {
  template <typename T>
  T operator()(T a) const {
    return std::floor(a);
  }
};
struct FCeil {
  template <typename T>
  T operator()(T a) const {
    return std::ceil(a);
  }
};
struct FTrunc {
  template <typename T>
  T operator()(T a) const {
    return std::trunc(a);
  }
};
struct FRint {
  template <typename T>
  T operator()(T a) const {
    return std::nearbyint(a);
  }
};
struct FRound {
  template <typename T>
  T operator()(T a) const {
    return std::round(a);
  }
};

template <typename F>
Handler binaryOf(Binary op) {
  switch (op) {
    case Binary::kFAdd: return floatBinary<F, FAdd>;
    case Binary::kFSub: return floatBinary<F, FSub>;
    case Binary::kFMul: return floatBinary<F, FMul>;
    case Binary::kFDiv: return floatBinary<F, FDiv>;
    case Binary::kFRem: return floatBinary<F, FRem>;
    case Binary::kFMinNum: return floatBinary<F, FMinNum>;
    case Binary::kFMaxNum: return floatBinary<F, FMaxNum>;
    case Binary::kFMinimum: return floatBinary<F, FMinimum>;
    case Binary::kFMaximum: return floatBinary<F, FMaximum>;
    case Binary::kFCopySign: return copySign<F>;
    default: return nullptr;
  }
}

template <typename F>
Handler unaryOf(Unary op) {
  switch (op) {
    case Unary::kFNeg: return floatSign<F, Unary::kFNeg>;
    case Unary::kFAbs: return floatSign<F, Unary::kFAbs>;
    case Unary::kFSqrt: return floatUnary<F, FSqrt>;
    case Unary::kFFloor: return floatUnary<F, FFloor>;
    case Unary::kFCeil: return floatUnary<F, FCeil>;
    case Unary::kFTrunc: return floatUnary<F, FTrunc>;
    case Unary::kFRint: return floatUnary<F, FRint>;
    case Unary::kFRound: return floatUnary<F, FRound>;
    default: return nullptr;
  }
}

template <typename F>
Flow fusedMultiplyAdd(const Op& op, Warp& w) {
  auto* r = w.column<typename F::Bits>(op.result);
  const auto *a = w.column<typename F::Bits>(op.a), *b = w.column<typename F::Bits>(op.b), *c = w.column<typename F::Bits>(op.c);
  forLanes(w, [=](int l) { r[l] = F::encodeWide(std::fma(F::widen(a[l]), F::widen(b[l]), F::widen(c[l]))); });
  return Flow::kNext;
}

template <typename F>
Flow floatCompare(const Op& op, Warp& w) {
  uint32_t* r = w.narrow(op.result);
  const auto *a = w.column<typename F::Bits>(op.a), *b = w.column<typename F::Bits>(op.b);
  const uint64_t set = op.imm;
  forLanes(w, [=](int l) {
    const auto x = F::decode(a[l]), y = F::decode(b[l]);
    const uint64_t relation = x == y ? 1 : x > y ? 2 : x < y ? 4 : 8;
    r[l] = (set & relation) != 0;
  });
  return Flow::kNext;
}

// Bits of llvm.is.fpclass: sNaN qNaN -inf -normal -subnormal -0 +0 +subnormal +normal +inf.
template <typename F>
Flow floatClass(const Op& op, Warp& w) {
  uint32_t* r = w.narrow(op.result);
  const auto* a = w.column<typename F::Bits>(op.a);
  forLanes(w, [&](int l) {
    const auto x = F::decode(a[l]);
    const bool minus = (a[l] & F::kSign) != 0;
    uint64_t bit;
    if (std::isnan(x))
      bit = (a[l] & F::kQuiet) ? 2 : 1;
    else if (std::isinf(x))
      bit = minus ? 4 : 512;
    else if (x == 0)
      bit = minus ? 32 : 64;
    else if (std::fabs(static_cast<double>(x)) < F::kSmallestNormal)
      bit = minus ? 16 : 128;
    else
      bit = minus ? 8 : 256;
    r[l] = (op.imm & bit) != 0;
  });
  return Flow::kNext;
}

template <typename From, typename To>
Flow convertFloat(const Op& op, Warp& w) {
  auto* r = w.column<typename To::Bits>(op.result);
  const auto* a = w.column<typename From::Bits>(op.a);
  forLanes(w, [=](int l) { r[l] = To::encodeWide(From::widen(a[l])); });
  return Flow::kNext;
}

// Out of range values saturate and NaN is 0, as cvt does it.
template <typename From, typename Bits, bool kSigned>
Flow toInteger(const Op& op, Warp& w) {
  auto* r = w.column<Bits>(op.result);
  const auto* a = w.column<typename From::Bits>(op.a);
  const uint32_t bits = op.bits;
  const double limit = std::ldexp(1.0, static_cast<int>(bits) - (kSigned ? 1 : 0)), low = kSigned ? -limit : 0;
  forLanes(w, [&](int l) {
    const double x = std::trunc(From::widen(a[l]));
    uint64_t y;
    if (std::isnan(x))
      y = 0;
    else if (x >= limit)
      y = op.imm >> (kSigned ? 1 : 0);
    else if (x < low)
      y = kSigned ? uint64_t{1} << (bits - 1) : 0;
    else
      y = kSigned ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
    r[l] = static_cast<Bits>(y & op.imm);
  });
  return Flow::kNext;
}

template <typename Bits, typename To, bool kSigned>
Flow fromInteger(const Op& op, Warp& w) {
  auto* r = w.column<typename To::Bits>(op.result);
  const auto* a = w.column<Bits>(op.a);
  const int shift = static_cast<int>(sizeof(Bits) * 8) - static_cast<int>(op.bits);
  forLanes(w, [=](int l) {
    if constexpr (kSigned) {
      using S = std::make_signed_t<Bits>;
      r[l] = To::encodeInteger(static_cast<int64_t>(static_cast<S>(a[l] << shift) >> shift));
    } else {
      r[l] = To::encodeInteger(static_cast<uint64_t>(a[l]));
    }
  });
  return Flow::kNext;
}

template <typename F>
Handler convertOf(Convert kind, Scalar other) {
  const bool wide = other == Scalar::kInt64;
  switch (kind) {
    case Convert::kToSigned: return wide ? toInteger<F, uint64_t, true> : toInteger<F, uint32_t, true>;
    case Convert::kToUnsigned: return wide ? toInteger<F, uint64_t, false> : toInteger<F, uint32_t, false>;
    case Convert::kFromSigned: return wide ? fromInteger<uint64_t, F, true> : fromInteger<uint32_t, F, true>;
    case Convert::kFromUnsigned: return wide ? fromInteger<uint64_t, F, false> : fromInteger<uint32_t, F, false>;
    default: break;
  }
  switch (other) {  // to F from `other`
    case Scalar::kF16: return convertFloat<ColumnF16, F>;
    case Scalar::kBF16: return convertFloat<ColumnBF16, F>;
    case Scalar::kF32: return convertFloat<ColumnF32, F>;
    case Scalar::kF64: return convertFloat<ColumnF64, F>;
    default: return nullptr;
  }
}

bool isFloat(Scalar type) { return type != Scalar::kInt32 && type != Scalar::kInt64; }

}  // namespace

// One of the four formats as a template argument.
#define NEREID_BY_FORMAT(type, call) \
  switch (type) {                    \
    case Scalar::kF16: {             \
      using F = ColumnF16;           \
      call;                          \
    }                                \
    case Scalar::kBF16: {            \
      using F = ColumnBF16;          \
      call;                          \
    }                                \
    case Scalar::kF32: {             \
      using F = ColumnF32;           \
      call;                          \
    }                                \
    case Scalar::kF64: {             \
      using F = ColumnF64;           \
      call;                          \
    }                                \
    default: return nullptr;         \
  }

Handler binaryHandler(Binary op, Scalar type) {
  if (!isFloat(type)) return integerBinaryHandler(op, type);
  NEREID_BY_FORMAT(type, return binaryOf<F>(op))
}
Handler unaryHandler(Unary op, Scalar type) {
  if (!isFloat(type)) return integerUnaryHandler(op, type);
  NEREID_BY_FORMAT(type, return unaryOf<F>(op))
}
Handler ternaryHandler(Ternary op, Scalar type) {
  if (op != Ternary::kFma) return isFloat(type) ? nullptr : funnelHandler(op == Ternary::kFunnelLeft, type);
  NEREID_BY_FORMAT(type, return fusedMultiplyAdd<F>)
}
Handler floatCompareHandler(Scalar type){NEREID_BY_FORMAT(type, return floatCompare<F>)} Handler
    floatClassHandler(Scalar type){NEREID_BY_FORMAT(type, return floatClass<F>)} Handler
    convertHandler(Convert kind, Scalar from, Scalar to) {
  switch (kind) {
    case Convert::kZExt:
    case Convert::kTrunc: return resizeHandler(false, from, to);
    case Convert::kSExt: return resizeHandler(true, from, to);
    case Convert::kToSigned:
    case Convert::kToUnsigned: NEREID_BY_FORMAT(from, return convertOf<F>(kind, to))
    default: NEREID_BY_FORMAT(to, return convertOf<F>(kind, from))
  }
}
#undef NEREID_BY_FORMAT

}  // namespace nereid::emulator
