// Integer arithmetic, comparisons and conversions of integers.
#include <bit>

#include "compiler/emulator/handlers.h"
#include "compiler/emulator/warp.h"

namespace nereid::emulator {
namespace {

template <typename T>
using Signed = std::make_signed_t<T>;
template <typename T>
constexpr int kWidth = static_cast<int>(sizeof(T) * 8);

// The low `bits` of x as a signed number.
template <typename T>
Signed<T> extend(T x, uint32_t bits) {
  const int shift = kWidth<T> - static_cast<int>(bits);
  return static_cast<Signed<T>>(x << shift) >> shift;
}

template <typename T, typename F>
Flow binary(const Op& op, Warp& w) {
  T* r = w.column<T>(op.result);
  const T *a = w.column<T>(op.a), *b = w.column<T>(op.b);
  const T mask = static_cast<T>(op.imm);
  const uint32_t bits = op.bits;
  forLanes(w, [=](int l) { r[l] = static_cast<T>(F{}(a[l], b[l], bits)) & mask; });
  return Flow::kNext;
}

// The second result of an overflow intrinsic, an i1 column.
template <typename T, typename F>
Flow overflow(const Op& op, Warp& w) {
  uint32_t* r = w.narrow(op.result);
  const T *a = w.column<T>(op.a), *b = w.column<T>(op.b);
  forLanes(w, [&](int l) { r[l] = F{}(a[l], b[l], op.bits) ? 1 : 0; });
  return Flow::kNext;
}

template <typename T>
T allOnes(uint32_t bits) {
  return bits >= static_cast<uint32_t>(kWidth<T>) ? ~T{0} : (T{1} << bits) - 1;
}

#define NEREID_BINARY(Name, expression)           \
  struct Name {                                   \
    template <typename T>                         \
    T operator()(T a, T b, uint32_t bits) const { \
      (void)bits;                                 \
      return static_cast<T>(expression);          \
    }                                             \
  };
NEREID_BINARY(Add, a + b)
NEREID_BINARY(Sub, a - b)
NEREID_BINARY(Mul, a* b)
NEREID_BINARY(And, a& b)
NEREID_BINARY(Or, a | b)
NEREID_BINARY(Xor, a ^ b)
// A division by zero gives all ones, as the hardware's sequence does; it is undefined in LLVM IR.
NEREID_BINARY(UDiv, b ? a / b : ~T{0})
NEREID_BINARY(URem, b ? a % b : a)
NEREID_BINARY(SDiv, b == 0 ? ~T{0} : extend(b, bits) == -1 ? T{0} - a : static_cast<T>(extend(a, bits) / extend(b, bits)))
NEREID_BINARY(SRem, b == 0 ? a : extend(b, bits) == -1 ? T{0} : static_cast<T>(extend(a, bits) % extend(b, bits)))
// PTX clamps shift amounts.
NEREID_BINARY(Shl, b >= bits ? T{0} : a << b)
NEREID_BINARY(LShr, b >= bits ? T{0} : a >> b)
NEREID_BINARY(AShr, extend(a, bits) >> (b >= bits ? bits - 1 : static_cast<uint32_t>(b)))
NEREID_BINARY(SMin, extend(a, bits) < extend(b, bits) ? a : b)
NEREID_BINARY(SMax, extend(a, bits) > extend(b, bits) ? a : b)
NEREID_BINARY(UMin, a < b ? a : b)
NEREID_BINARY(UMax, a > b ? a : b)
NEREID_BINARY(UAddSat, (allOnes<T>(bits) - a < b) ? allOnes<T>(bits) : a + b)
NEREID_BINARY(USubSat, a < b ? T{0} : a - b)
#undef NEREID_BINARY

template <typename T>
struct Range {
  Signed<T> low, high;
  explicit Range(uint32_t bits)
      : low(static_cast<Signed<T>>(-1) << (bits - 1)), high(static_cast<Signed<T>>(allOnes<T>(bits) >> 1)) {}
  bool holds(__int128 x) const { return x >= low && x <= high; }
  T clamp(__int128 x) const { return static_cast<T>(x < low ? low : x > high ? high : static_cast<Signed<T>>(x)); }
};
struct SAddSat {
  template <typename T>
  T operator()(T a, T b, uint32_t n) const {
    return Range<T>(n).clamp(static_cast<__int128>(extend(a, n)) + extend(b, n));
  }
};
struct SSubSat {
  template <typename T>
  T operator()(T a, T b, uint32_t n) const {
    return Range<T>(n).clamp(static_cast<__int128>(extend(a, n)) - extend(b, n));
  }
};
struct UAddOverflow {
  template <typename T>
  bool operator()(T a, T b, uint32_t n) const {
    return allOnes<T>(n) - a < b;
  }
};
struct UMulOverflow {
  template <typename T>
  bool operator()(T a, T b, uint32_t n) const {
    return static_cast<unsigned __int128>(a) * b > allOnes<T>(n);
  }
};
struct SAddOverflow {
  template <typename T>
  bool operator()(T a, T b, uint32_t n) const {
    return !Range<T>(n).holds(static_cast<__int128>(extend(a, n)) + extend(b, n));
  }
};
struct SMulOverflow {
  template <typename T>
  bool operator()(T a, T b, uint32_t n) const {
    return !Range<T>(n).holds(static_cast<__int128>(extend(a, n)) * extend(b, n));
  }
};

template <typename F>
Handler sized(Scalar type) {
  return type == Scalar::kInt64 ? binary<uint64_t, F> : binary<uint32_t, F>;
}
template <typename F>
Handler sizedOverflow(Scalar type) {
  return type == Scalar::kInt64 ? overflow<uint64_t, F> : overflow<uint32_t, F>;
}

template <typename T, typename F>
Flow unary(const Op& op, Warp& w) {
  T* r = w.column<T>(op.result);
  const T* a = w.column<T>(op.a);
  const T mask = static_cast<T>(op.imm);
  const uint32_t bits = op.bits;
  forLanes(w, [=](int l) { r[l] = static_cast<T>(F{}(a[l], bits)) & mask; });
  return Flow::kNext;
}
struct Abs {
  template <typename T>
  T operator()(T a, uint32_t n) const {
    return extend(a, n) < 0 ? T{0} - a : a;
  }
};
struct PopCount {
  template <typename T>
  T operator()(T a, uint32_t) const {
    return static_cast<T>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <typename T>
  T operator()(T a, uint32_t n) const {
    return static_cast<T>(std::countl_zero(a) - (kWidth<T> - static_cast<int>(n)));
  }
};
struct TrailingZeros {
  template <typename T>
  T operator()(T a, uint32_t n) const {
    return a ? static_cast<T>(std::countr_zero(a)) : static_cast<T>(n);
  }
};
struct ByteSwap {
  template <typename T>
  T operator()(T a, uint32_t n) const {
    T r = 0;
    for (uint32_t i = 0; i < n; i += 8) r = static_cast<T>(r << 8 | (a >> i & 255));
    return r;
  }
};
struct BitReverse {
  template <typename T>
  T operator()(T a, uint32_t n) const {
    T r = 0;
    for (uint32_t i = 0; i < n; i++) r = static_cast<T>(r << 1 | (a >> i & 1));
    return r;
  }
};
template <typename F>
Handler sizedUnary(Scalar type) {
  return type == Scalar::kInt64 ? unary<uint64_t, F> : unary<uint32_t, F>;
}

template <typename T, bool kLeft>
Flow funnel(const Op& op, Warp& w) {
  T* r = w.column<T>(op.result);
  const T *high = w.column<T>(op.a), *low = w.column<T>(op.b), *by = w.column<T>(op.c);
  const uint32_t bits = op.bits;
  forLanes(w, [&](int l) {
    const uint32_t n = static_cast<uint32_t>(by[l] % bits);
    T x;
    if (n == 0)
      x = kLeft ? high[l] : low[l];
    else if (kLeft)
      x = static_cast<T>(high[l] << n | low[l] >> (bits - n));
    else
      x = static_cast<T>(high[l] << (bits - n) | low[l] >> n);
    r[l] = x & static_cast<T>(op.imm);
  });
  return Flow::kNext;
}

template <typename T, Compare kPredicate>
Flow compare(const Op& op, Warp& w) {
  uint32_t* r = w.narrow(op.result);
  const T *a = w.column<T>(op.a), *b = w.column<T>(op.b);
  const uint32_t bits = op.bits;
  forLanes(w, [=](int l) {
    bool x;
    if constexpr (kPredicate == Compare::kEq)
      x = a[l] == b[l];
    else if constexpr (kPredicate == Compare::kNe)
      x = a[l] != b[l];
    else if constexpr (kPredicate == Compare::kUgt)
      x = a[l] > b[l];
    else if constexpr (kPredicate == Compare::kUge)
      x = a[l] >= b[l];
    else if constexpr (kPredicate == Compare::kUlt)
      x = a[l] < b[l];
    else if constexpr (kPredicate == Compare::kUle)
      x = a[l] <= b[l];
    else if constexpr (kPredicate == Compare::kSgt)
      x = extend(a[l], bits) > extend(b[l], bits);
    else if constexpr (kPredicate == Compare::kSge)
      x = extend(a[l], bits) >= extend(b[l], bits);
    else if constexpr (kPredicate == Compare::kSlt)
      x = extend(a[l], bits) < extend(b[l], bits);
    else
      x = extend(a[l], bits) <= extend(b[l], bits);
    r[l] = x;
  });
  return Flow::kNext;
}

template <typename T>
Handler compareOf(Compare predicate) {
  switch (predicate) {
    case Compare::kEq: return compare<T, Compare::kEq>;
    case Compare::kNe: return compare<T, Compare::kNe>;
    case Compare::kUgt: return compare<T, Compare::kUgt>;
    case Compare::kUge: return compare<T, Compare::kUge>;
    case Compare::kUlt: return compare<T, Compare::kUlt>;
    case Compare::kUle: return compare<T, Compare::kUle>;
    case Compare::kSgt: return compare<T, Compare::kSgt>;
    case Compare::kSge: return compare<T, Compare::kSge>;
    case Compare::kSlt: return compare<T, Compare::kSlt>;
    default: return compare<T, Compare::kSle>;
  }
}

template <typename From, typename To, bool kSign>
Flow resize(const Op& op, Warp& w) {
  To* r = w.column<To>(op.result);
  const From* a = w.column<From>(op.a);
  const To mask = static_cast<To>(op.imm);
  const uint32_t bits = op.bits;
  forLanes(w, [=](int l) {
    if constexpr (kSign)
      r[l] = static_cast<To>(static_cast<Signed<To>>(extend(a[l], bits))) & mask;
    else
      r[l] = static_cast<To>(a[l]) & mask;
  });
  return Flow::kNext;
}

}  // namespace

Handler integerBinaryHandler(Binary op, Scalar type) {
  switch (op) {
    case Binary::kAdd: return sized<Add>(type);
    case Binary::kSub: return sized<Sub>(type);
    case Binary::kMul: return sized<Mul>(type);
    case Binary::kUDiv: return sized<UDiv>(type);
    case Binary::kSDiv: return sized<SDiv>(type);
    case Binary::kURem: return sized<URem>(type);
    case Binary::kSRem: return sized<SRem>(type);
    case Binary::kShl: return sized<Shl>(type);
    case Binary::kLShr: return sized<LShr>(type);
    case Binary::kAShr: return sized<AShr>(type);
    case Binary::kAnd: return sized<And>(type);
    case Binary::kOr: return sized<Or>(type);
    case Binary::kXor: return sized<Xor>(type);
    case Binary::kSMin: return sized<SMin>(type);
    case Binary::kSMax: return sized<SMax>(type);
    case Binary::kUMin: return sized<UMin>(type);
    case Binary::kUMax: return sized<UMax>(type);
    case Binary::kUAddSat: return sized<UAddSat>(type);
    case Binary::kUSubSat: return sized<USubSat>(type);
    case Binary::kSAddSat: return sized<SAddSat>(type);
    case Binary::kSSubSat: return sized<SSubSat>(type);
    case Binary::kUAddOverflow: return sizedOverflow<UAddOverflow>(type);
    case Binary::kUMulOverflow: return sizedOverflow<UMulOverflow>(type);
    case Binary::kSAddOverflow: return sizedOverflow<SAddOverflow>(type);
    case Binary::kSMulOverflow: return sizedOverflow<SMulOverflow>(type);
    default: return nullptr;
  }
}

Handler integerUnaryHandler(Unary op, Scalar type) {
  switch (op) {
    case Unary::kAbs: return sizedUnary<Abs>(type);
    case Unary::kPopCount: return sizedUnary<PopCount>(type);
    case Unary::kLeadingZeros: return sizedUnary<LeadingZeros>(type);
    case Unary::kTrailingZeros: return sizedUnary<TrailingZeros>(type);
    case Unary::kByteSwap: return sizedUnary<ByteSwap>(type);
    case Unary::kBitReverse: return sizedUnary<BitReverse>(type);
    default: return nullptr;
  }
}

Handler funnelHandler(bool left, Scalar type) {
  if (type == Scalar::kInt64) return left ? funnel<uint64_t, true> : funnel<uint64_t, false>;
  return left ? funnel<uint32_t, true> : funnel<uint32_t, false>;
}

Handler compareHandler(Compare predicate, Scalar type) {
  return type == Scalar::kInt64 ? compareOf<uint64_t>(predicate) : compareOf<uint32_t>(predicate);
}

Handler resizeHandler(bool sign, Scalar from, Scalar to) {
  const bool a = from == Scalar::kInt64, b = to == Scalar::kInt64;
  if (a && b) return sign ? resize<uint64_t, uint64_t, true> : resize<uint64_t, uint64_t, false>;
  if (a) return sign ? resize<uint64_t, uint32_t, true> : resize<uint64_t, uint32_t, false>;
  if (b) return sign ? resize<uint32_t, uint64_t, true> : resize<uint32_t, uint64_t, false>;
  return sign ? resize<uint32_t, uint32_t, true> : resize<uint32_t, uint32_t, false>;
}

}  // namespace nereid::emulator
