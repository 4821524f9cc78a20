// Conversions between narrow formats, byte permutes, approximations. PTX ISA 8.8, "cvt", "prmt", "ex2", "lg2", "rcp", "rsqrt",
// "sqrt", "dp4a". Approximations give the correctly rounded value, which lies within each one's error bound.
#include <cmath>

#include "compiler/emulator/float_columns.h"
#include "compiler/emulator/intrinsics.h"
#include "compiler/emulator/lanes.h"

namespace nereid::emulator {
namespace {

// aux of conversions.
enum Format : uint64_t { kFormatE4M3, kFormatE5M2, kFormatE2M1, kFormatE3M2, kFormatE2M3, kFormatF16, kFormatBF16, kFormatUe8m0 };
constexpr uint64_t kRelu = 16, kToZero = 32, kUpward = 64, kSaturates = 128;

const NarrowFormat& formatOf(uint64_t aux) {
  switch (aux & 15) {
    case kFormatE4M3: return kE4M3;
    case kFormatE5M2: return kE5M2;
    case kFormatE2M1: return kE2M1;
    case kFormatE3M2: return kE3M2;
    case kFormatE2M3: return kE2M3;
    case kFormatF16: return kF16;
    default: return kBF16;
  }
}

Rounding roundingOf(uint64_t aux) { return aux & kToZero ? Rounding::kZero : aux & kUpward ? Rounding::kUp : Rounding::kNearest; }

float relu(float x, uint64_t aux) { return (aux & kRelu) && !std::isnan(x) && std::signbit(x) ? 0.0f : x; }

uint32_t encodeOne(float x, uint64_t aux) {
  if ((aux & 15) == kFormatUe8m0) return encodeUe8m0(x, roundingOf(aux));
  // Conversions to fewer than 16 bits always saturate.
  const bool saturates = (aux & 15) < kFormatF16 || (aux & kSaturates);
  return encodeNarrow(formatOf(aux), relu(x, aux), saturates, roundingOf(aux));
}

// Two packed narrow values (one word; e2m1: the low byte) to two 16-bit floats.
Flow unpackTwo(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t packed = word(w, op, 0, lane);
    const int width = (op.aux & 15) == kFormatE2M1 ? 4 : 8;
    for (int i = 0; i < 2; i++) {
      const uint32_t code = packed >> (i * width) & ((1u << width) - 1);
      uint32_t bits;
      if ((op.aux & 15) == kFormatUe8m0)
        bits = encodeNarrow(kBF16, decodeUe8m0(code), false);
      else
        bits = encodeF16(relu(decodeNarrow(formatOf(op.aux), code), op.aux));
      w.narrow(w.result(op, i))[lane] = bits;
    }
  });
  return Flow::kNext;
}

// Two f32 to two packed values; the first operand goes to the upper half. Results: one packed word, or two columns of 16 bits.
Flow packTwo(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t high = encodeOne(bitsToFloat(word(w, op, 0, lane)), op.aux),
                   low = encodeOne(bitsToFloat(word(w, op, 1, lane)), op.aux);
    if (op.results == 2) {
      w.narrow(w.result(op, 0))[lane] = low;
      w.narrow(w.result(op, 1))[lane] = high;
      return;
    }
    const int width = (op.aux & 15) == kFormatE2M1 ? 4 : 8;
    w.narrow(w.result(op, 0))[lane] = low | high << width;
  });
  return Flow::kNext;
}

// Two 16-bit floats (two columns) to two packed bytes; `kSource` their format.
template <uint64_t kSource>
Flow narrowTwo(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    uint32_t packed = 0;
    for (int i = 0; i < 2; i++) {
      const uint32_t bits = word(w, op, i, lane);
      packed |= encodeOne(kSource == kFormatF16 ? f16ToFloat(bits) : bf16ToFloat(bits), op.aux) << (8 * i);
    }
    w.narrow(w.result(op, 0))[lane] = packed;
  });
  return Flow::kNext;
}

// f32 → tf32: 10 bits of mantissa. aux 0: nearest even, 1: nearest, ties away, 2: to zero.
Flow toTf32(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    uint32_t bits = word(w, op, 0, lane);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
      bits = kCanonicalNan;
    else if ((bits & 0x7F800000) != 0x7F800000)
      bits += op.aux == 0 ? 0xFFF + (bits >> 13 & 1) : op.aux == 1 ? 0x1000 : 0;
    w.narrow(w.result(op, 0))[lane] = bits & 0xFFFFE000;
  });
  return Flow::kNext;
}

Flow toBF16(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.narrow(w.result(op, 0))[lane] = encodeOne(bitsToFloat(word(w, op, 0, lane)), op.aux); });
  return Flow::kNext;
}

// Bytes of {b, a} chosen by the selector's nibbles; bit 3 of a nibble repeats the byte's sign.
Flow permute(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint64_t bytes = word(w, op, 0, lane) | static_cast<uint64_t>(word(w, op, 1, lane)) << 32;
    const uint32_t selector = word(w, op, 2, lane);
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
      const uint32_t nibble = selector >> (4 * i) & 15;
      uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7)) & 255);
      if (nibble & 8) byte = byte & 0x80 ? 255 : 0;
      result |= byte << (8 * i);
    }
    w.narrow(w.result(op, 0))[lane] = result;
  });
  return Flow::kNext;
}

// The other modes of prmt: byte i of the result is byte table[mode][c & 3][i] of {b, a}. rc8, ecl, ecr and rc16 have no b.
enum PermuteMode : uint64_t { kForward4, kBackward4, kReplicate8, kClampLeft, kClampRight, kReplicate16 };
constexpr uint8_t kPermutes[6][4][4] = {
    {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
    {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
    {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}, {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}},
};
Flow permuteByMode(const Op& op, Warp& w) {
  const bool two = op.aux == kForward4 || op.aux == kBackward4;
  forLanes(w, [&](int lane) {
    const uint64_t bytes = word(w, op, 0, lane) | (two ? static_cast<uint64_t>(word(w, op, 1, lane)) << 32 : 0);
    const uint32_t selector = word(w, op, two ? 2 : 1, lane) & 3;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) result |= static_cast<uint32_t>(bytes >> (8 * kPermutes[op.aux][selector][i]) & 255) << (8 * i);
    w.narrow(w.result(op, 0))[lane] = result;
  });
  return Flow::kNext;
}

enum Function : uint64_t { kExp2, kLog2, kReciprocal, kReciprocalRoot, kRoot, kSine, kCosine, kTanh };
constexpr uint64_t kFlush = 256;  // subnormal inputs and results become zero

double evaluate(uint64_t function, double x) {
  switch (function & 255) {
    case kExp2: return std::exp2(x);
    case kLog2: return std::log2(x);
    case kReciprocal: return 1 / x;
    case kReciprocalRoot: return 1 / std::sqrt(x);
    case kRoot: return std::sqrt(x);
    case kSine: return std::sin(x);
    case kCosine: return std::cos(x);
    default: return std::tanh(x);
  }
}

float flush(float x, uint64_t aux) { return (aux & kFlush) && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

Flow approximateF32(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const float x = flush(bitsToFloat(word(w, op, 0, lane)), op.aux);
    const auto y = static_cast<float>(evaluate(op.aux, x));
    w.narrow(w.result(op, 0))[lane] = std::isnan(y) ? kCanonicalNan : floatToBits(flush(y, op.aux));
  });
  return Flow::kNext;
}

// One or two 16-bit floats a lane.
template <typename F>
Flow approximate16(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    for (int i = 0; i < op.results; i++)
      w.narrow(w.result(op, i))[lane] = F::encodeWide(evaluate(op.aux, F::widen(word(w, op, i, lane))));
  });
  return Flow::kNext;
}

// Dot product of four bytes. aux: 1 a is signed, 2 b is signed.
Flow dot4(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t a = word(w, op, 0, lane), b = word(w, op, 1, lane);
    uint32_t sum = word(w, op, 2, lane);
    for (int i = 0; i < 4; i++) {
      const int x = op.aux & 1 ? static_cast<int8_t>(a >> (8 * i)) : static_cast<uint8_t>(a >> (8 * i));
      const int y = op.aux & 2 ? static_cast<int8_t>(b >> (8 * i)) : static_cast<uint8_t>(b >> (8 * i));
      sum += static_cast<uint32_t>(x * y);
    }
    w.narrow(w.result(op, 0))[lane] = sum;
  });
  return Flow::kNext;
}

constexpr Intrinsic kTable[] = {
    {"e4m3x2.to.f16x2.rn", unpackTwo, kFormatE4M3},
    {"e4m3x2.to.f16x2.rn.relu", unpackTwo, kFormatE4M3 | kRelu},
    {"e5m2x2.to.f16x2.rn", unpackTwo, kFormatE5M2},
    {"e5m2x2.to.f16x2.rn.relu", unpackTwo, kFormatE5M2 | kRelu},
    {"e2m1x2.to.f16x2.rn", unpackTwo, kFormatE2M1},
    {"e2m1x2.to.f16x2.rn.relu", unpackTwo, kFormatE2M1 | kRelu},
    {"e3m2x2.to.f16x2.rn", unpackTwo, kFormatE3M2},
    {"e3m2x2.to.f16x2.rn.relu", unpackTwo, kFormatE3M2 | kRelu},
    {"e2m3x2.to.f16x2.rn", unpackTwo, kFormatE2M3},
    {"e2m3x2.to.f16x2.rn.relu", unpackTwo, kFormatE2M3 | kRelu},
    {"ue8m0x2.to.bf16x2", unpackTwo, kFormatUe8m0},
    {"ff.to.e4m3x2.rn", packTwo, kFormatE4M3},
    {"ff.to.e4m3x2.rn.relu", packTwo, kFormatE4M3 | kRelu},
    {"ff.to.e5m2x2.rn", packTwo, kFormatE5M2},
    {"ff.to.e5m2x2.rn.relu", packTwo, kFormatE5M2 | kRelu},
    {"ff.to.e2m1x2.rn.satfinite", packTwo, kFormatE2M1},
    {"ff.to.e2m1x2.rn.relu.satfinite", packTwo, kFormatE2M1 | kRelu},
    {"ff.to.e3m2x2.rn.satfinite", packTwo, kFormatE3M2},
    {"ff.to.e3m2x2.rn.relu.satfinite", packTwo, kFormatE3M2 | kRelu},
    {"ff.to.e2m3x2.rn.satfinite", packTwo, kFormatE2M3},
    {"ff.to.e2m3x2.rn.relu.satfinite", packTwo, kFormatE2M3 | kRelu},
    {"ff.to.ue8m0x2.rz", packTwo, kFormatUe8m0 | kToZero},
    {"ff.to.ue8m0x2.rz.satfinite", packTwo, kFormatUe8m0 | kToZero},
    {"ff.to.ue8m0x2.rp", packTwo, kFormatUe8m0 | kUpward},
    {"ff.to.ue8m0x2.rp.satfinite", packTwo, kFormatUe8m0 | kUpward},
    {"ff2f16x2.rn", packTwo, kFormatF16},
    {"ff2f16x2.rn.relu", packTwo, kFormatF16 | kRelu},
    {"ff2f16x2.rz", packTwo, kFormatF16 | kToZero},
    {"ff2f16x2.rz.relu", packTwo, kFormatF16 | kToZero | kRelu},
    {"ff2f16x2.rn.satfinite", packTwo, kFormatF16 | kSaturates},
    {"ff2bf16x2.rn", packTwo, kFormatBF16},
    {"ff2bf16x2.rn.relu", packTwo, kFormatBF16 | kRelu},
    {"ff2bf16x2.rz", packTwo, kFormatBF16 | kToZero},
    {"ff2bf16x2.rz.relu", packTwo, kFormatBF16 | kToZero | kRelu},
    {"ff2bf16x2.rn.satfinite", packTwo, kFormatBF16 | kSaturates},
    {"f2bf16.rn", toBF16, kFormatBF16},
    {"f2bf16.rz", toBF16, kFormatBF16 | kToZero},
    {"f16x2.to.e4m3x2.rn", narrowTwo<kFormatF16>, kFormatE4M3},
    {"f16x2.to.e4m3x2.rn.relu", narrowTwo<kFormatF16>, kFormatE4M3 | kRelu},
    {"f16x2.to.e5m2x2.rn", narrowTwo<kFormatF16>, kFormatE5M2},
    {"f16x2.to.e5m2x2.rn.relu", narrowTwo<kFormatF16>, kFormatE5M2 | kRelu},
    {"bf16x2.to.ue8m0x2.rz", narrowTwo<kFormatBF16>, kFormatUe8m0 | kToZero},
    {"bf16x2.to.ue8m0x2.rz.satfinite", narrowTwo<kFormatBF16>, kFormatUe8m0 | kToZero},
    {"bf16x2.to.ue8m0x2.rp", narrowTwo<kFormatBF16>, kFormatUe8m0 | kUpward},
    {"bf16x2.to.ue8m0x2.rp.satfinite", narrowTwo<kFormatBF16>, kFormatUe8m0 | kUpward},
    {"f2tf32.rn", toTf32, 0},
    {"f2tf32.rna", toTf32, 1},
    {"f2tf32.rz", toTf32, 2},
    {"prmt", permute},
    {"prmt.f4e", permuteByMode, kForward4},
    {"prmt.b4e", permuteByMode, kBackward4},
    {"prmt.rc8", permuteByMode, kReplicate8},
    {"prmt.ecl", permuteByMode, kClampLeft},
    {"prmt.ecr", permuteByMode, kClampRight},
    {"prmt.rc16", permuteByMode, kReplicate16},
    {"ex2.approx.ftz.f32", approximateF32, kExp2 | kFlush},
    {"ex2.approx.f32", approximateF32, kExp2},
    {"ex2.approx.ftz.f", approximateF32, kExp2 | kFlush},
    {"ex2.approx.f", approximateF32, kExp2},
    {"ex2.approx.f16", approximate16<ColumnF16>, kExp2},
    {"ex2.approx.v2f16", approximate16<ColumnF16>, kExp2},
    {"ex2.approx.ftz.bf16", approximate16<ColumnBF16>, kExp2},
    {"ex2.approx.ftz.v2bf16", approximate16<ColumnBF16>, kExp2},
    {"lg2.approx.f", approximateF32, kLog2},
    {"lg2.approx.ftz.f", approximateF32, kLog2 | kFlush},
    {"rcp.approx.ftz.f", approximateF32, kReciprocal | kFlush},
    {"rsqrt.approx.f", approximateF32, kReciprocalRoot},
    {"rsqrt.approx.ftz.f", approximateF32, kReciprocalRoot | kFlush},
    {"sqrt.approx.f", approximateF32, kRoot},
    {"sqrt.approx.ftz.f", approximateF32, kRoot | kFlush},
    {"sin.approx.f", approximateF32, kSine},
    {"sin.approx.ftz.f", approximateF32, kSine | kFlush},
    {"cos.approx.f", approximateF32, kCosine},
    {"cos.approx.ftz.f", approximateF32, kCosine | kFlush},
    {"tanh.approx.f32", approximateF32, kTanh},
    {"idp4a.s.s", dot4, 3},
    {"idp4a.s.u", dot4, 1},
    {"idp4a.u.s", dot4, 2},
    {"idp4a.u.u", dot4, 0},
};

}  // namespace

std::span<const Intrinsic> conversionIntrinsics() { return kTable; }

}  // namespace nereid::emulator
