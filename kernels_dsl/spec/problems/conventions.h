// Options that several problems share, and the ranges of their numbers.
#pragma once
#include <cstdint>

namespace nereid::kernels {

enum class IndexType { kI32, kI64 };
enum class LseBase { kE, k2 };
enum class LseEmpty { kMinusInf, kPlusInf };
enum class Arith { kF16, kBF16, kFp8 };  // element type of products; fp8 quantises q and the probabilities
// Exact: page sizes and top-k are constants of the kernel. Generic: both are values of the call.
enum class Specialise { kExact, kGeneric };

// How the log-sum-exp of a row is given out.
struct LseConvention {
  LseBase base = LseBase::kE;
  bool sink = false;                     // the sink is in the sum
  LseEmpty empty = LseEmpty::kMinusInf;  // value for a row without tokens
  bool operator==(const LseConvention&) const = default;
};

inline constexpr int64_t kMaxPageSize = int64_t{1} << 24;  // tokens; a page's bytes then stay below 2^35
inline constexpr int64_t kMaxTopk = int64_t{1} << 24;
inline constexpr int64_t kMaxHeads = 4096;
inline constexpr int64_t kMaxHeadDim = 4096;
inline constexpr int64_t kMaxQueries = int64_t{1} << 20;  // s_q
inline constexpr int64_t kMaxSplits = 1024;
inline constexpr int64_t kMaxRows = INT32_MAX;

}  // namespace nereid::kernels
