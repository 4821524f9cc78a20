// mma with and without block scales, ldmatrix, stmatrix. PTX ISA 8.8, "Warp Level Matrix Multiply-Accumulate Instructions".
// Products are exact; sums are in double and rounded once (the hardware's order and truncation of f32 sums is not specified).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "compiler/emulator/float_columns.h"
#include "compiler/emulator/intrinsics.h"
#include "compiler/emulator/lanes.h"
#include "compiler/emulator/matrix_forms.h"

namespace nereid::emulator {
namespace {

constexpr int kRows = 16, kColumns = 8, kMaxK = 64;

// A table a format of at most 16 bits, so that decoding is a load.
const float* decodeTable(Element element) {
  static const auto make = [](Element e) {
    const int bits = elementBits(e);
    std::vector<float> table(size_t{1} << bits);
    for (uint32_t i = 0; i < table.size(); i++) table[i] = static_cast<float>(decodeElement(e, i));
    return table;
  };
#define NEREID_TABLE(e)                                       \
  case Element::e: {                                          \
    static const std::vector<float> table = make(Element::e); \
    return table.data();                                      \
  }
  switch (element) {
    NEREID_TABLE(kF16)
    NEREID_TABLE(kBF16)
    NEREID_TABLE(kS8)
    NEREID_TABLE(kU8)
    NEREID_TABLE(kE4M3)
    NEREID_TABLE(kE5M2)
    NEREID_TABLE(kE3M2) NEREID_TABLE(kE2M3) NEREID_TABLE(kE2M1) NEREID_TABLE(kE2M1Packed) default : return nullptr;
  }
#undef NEREID_TABLE
}

float decodeWith(const float* table, Element element, uint32_t word, int bits, int i) {
  if (!table) return static_cast<float>(decodeElement(element, word));
  return table[word >> (i * bits) & ((1u << bits) - 1)];
}

// Registers of a fragment: f16 operands come as vectors, two columns a register.
uint32_t fragmentWord(Warp& w, const Op& op, int first, int r, bool halves, int lane) {
  if (!halves) return word(w, op, first + r, lane);
  return (word(w, op, first + 2 * r, lane) & 0xFFFF) | word(w, op, first + 2 * r + 1, lane) << 16;
}

// The scales of a row of A or a column of B, one a block along k.
using Scales = std::array<std::array<double, 4>, kRows>;

// `first`: operand of the data; byte and thread selectors follow. `per_quad`: threads of a quad that give scales (A: 2, B: 1).
bool readScales(const Op& op, Warp& w, const MmaForm& form, int first, int per_quad, Scales& scales) {
  const int lane0 = std::countr_zero(w.active);
  const uint32_t byte = word(w, op, first + 1, lane0), thread = word(w, op, first + 2, lane0);
  const uint32_t last_byte = 4 - form.scale_blocks;
  if (byte > last_byte || byte % form.scale_blocks != 0 || thread >= static_cast<uint32_t>(4 / per_quad)) {
    w.block.context().reportFatal(FindingKind::kDivergence, w.firstThread(), op.index,
                                  fmt::format("no such scale selector: byte {}, thread {}", byte, thread));
    return false;
  }
  for (int quad = 0; quad < 8; quad++) {
    for (int i = 0; i < per_quad; i++) {
      const uint32_t data = word(w, op, first, quad * 4 + static_cast<int>(thread) * per_quad + i);
      for (uint32_t k = 0; k < form.scale_blocks; k++) {
        const uint32_t code = data >> (8 * (byte + k)) & 255;
        scales[static_cast<size_t>(quad + 8 * i)][k] =
            form.scale == ScaleFormat::kUE8M0 ? decodeUe8m0(code) : decodeNarrow(kE4M3, code & 127);
      }
    }
  }
  return true;
}

Flow mma(const Op& op, Warp& w) {
  Flow flow;
  if (!wholeWarp(op, w, flow)) return flow;
  if (w.active != kAllLanes) {
    w.block.context().reportFatal(FindingKind::kDivergence, w.firstThread(), op.index, "mma in a warp of fewer than 32 threads");
    return Flow::kStop;
  }
  const MmaForm form = MmaForm::unpack(op.aux);
  const int a_bits = elementBits(form.a), b_bits = elementBits(form.b), k_size = form.k;
  const bool a_halves = form.a == Element::kF16, b_halves = form.b == Element::kF16;
  const int a_columns = form.aRegisters() * (a_halves ? 2 : 1), b_columns = form.bRegisters() * (b_halves ? 2 : 1);
  float a[kRows][kMaxK], b[kMaxK][kColumns];
  const float *a_table = decodeTable(form.a), *b_table = decodeTable(form.b);
  for (int lane = 0; lane < kLanes; lane++) {
    for (int r = 0; r < form.aRegisters(); r++) {
      const uint32_t bits = fragmentWord(w, op, 0, r, a_halves, lane);
      for (int i = 0; i < 32 / a_bits; i++) {
        const Place p = placeInA(a_bits, lane, r, i);
        a[p.row][p.column] = decodeWith(a_table, form.a, bits, a_bits, i);
      }
    }
    for (int r = 0; r < form.bRegisters(); r++) {
      const uint32_t bits = fragmentWord(w, op, a_columns, r, b_halves, lane);
      for (int i = 0; i < 32 / b_bits; i++) {
        const Place p = placeInB(b_bits, lane, r, i);
        b[p.row][p.column] = decodeWith(b_table, form.b, bits, b_bits, i);
      }
    }
  }
  const int c_first = a_columns + b_columns;
  const bool f16_sum = form.sum == MmaForm::Sum::kF16;
  Scales a_scales, b_scales;
  if (form.scale != ScaleFormat::kNone) {
    if (!readScales(op, w, form, c_first + 4, 2, a_scales) || !readScales(op, w, form, c_first + 7, 1, b_scales))
      return Flow::kStop;
  }
  // Each element of C is in its own register, or a half of one that the flattening gave its own column.
  double d[kRows][kColumns];
  const int blocks = form.scale_blocks ? form.scale_blocks : 1, block_k = k_size / blocks;
  for (int row = 0; row < kRows; row++) {
    double total[kColumns] = {};
    for (int block = 0; block < blocks; block++) {
      double sum[kColumns] = {};
      for (int k = block * block_k; k < (block + 1) * block_k; k++) {
        const float x = a[row][k];
        for (int n = 0; n < kColumns; n++) sum[n] += x * b[k][n];
      }
      for (int n = 0; n < kColumns; n++) {
        if (form.scale == ScaleFormat::kNone)
          total[n] += sum[n];
        else
          total[n] += sum[n] * (a_scales[static_cast<size_t>(row)][static_cast<size_t>(block)] *
                                b_scales[static_cast<size_t>(n)][static_cast<size_t>(block)]);
      }
    }
    std::copy_n(total, kColumns, d[row]);
  }
  for (int lane = 0; lane < kLanes; lane++) {
    for (int i = 0; i < 4; i++) {
      const Place p = placeInC(lane, i);
      const uint32_t c = word(w, op, c_first + i, lane);
      uint32_t& r = w.narrow(w.result(op, i))[lane];
      if (form.sum == MmaForm::Sum::kS32) {
        const int64_t x = static_cast<int64_t>(d[p.row][p.column]) + static_cast<int32_t>(c);
        r = form.saturate ? static_cast<uint32_t>(static_cast<int32_t>(std::clamp<int64_t>(x, INT32_MIN, INT32_MAX)))
                          : static_cast<uint32_t>(x);
      } else if (f16_sum) {
        r = encodeNarrow(kF16, d[p.row][p.column] + f16ToFloat(c), false);
      } else {
        r = floatToBits(static_cast<float>(d[p.row][p.column] + bitsToFloat(c)));
      }
    }
  }
  return Flow::kNext;
}

bool parseMmaName(std::string_view rest, uint64_t& aux) {
  MmaForm form;
  if (!parseMma(rest, form)) return false;
  aux = form.packed();
  return true;
}

// ldmatrix and stmatrix of 8×8 matrices of 16-bit elements. aux: count | transposed << 8.
constexpr int kMatrixRows = 8, kRowBytes = 16;

Flow ldmatrix(const Op& op, Warp& w) {
  Flow flow;
  if (!wholeWarp(op, w, flow)) return flow;
  const int count = static_cast<int>(op.aux & 255);
  const bool transposed = op.aux >> 8;
  uint16_t rows[4][kMatrixRows][8] = {};
  for (int i = 0; i < count; i++) {
    for (int row = 0; row < kMatrixRows; row++) {
      const int lane = i * kMatrixRows + row;
      if (!(w.active >> lane & 1)) continue;
      const uint8_t* from = w.block.memory().access(w.thread(lane), kShared, sharedPointer(w, op, 0, lane), kRowBytes, kRowBytes,
                                                    Access::kRead, op);
      if (from) std::memcpy(rows[i][row], from, kRowBytes);
    }
  }
  for (int i = 0; i < count; i++) {
    uint32_t* r = w.narrow(w.result(op, i));
    forLanes(w, [&](int lane) {
      const int major = lane / 4, minor = lane % 4 * 2;
      const uint32_t low = transposed ? rows[i][minor][major] : rows[i][major][minor];
      const uint32_t high = transposed ? rows[i][minor + 1][major] : rows[i][major][minor + 1];
      r[lane] = low | high << 16;
    });
  }
  return next(w);
}

Flow stmatrix(const Op& op, Warp& w) {
  Flow flow;
  if (!wholeWarp(op, w, flow)) return flow;
  const int count = static_cast<int>(op.aux & 255);
  const bool transposed = op.aux >> 8;
  for (int i = 0; i < count; i++) {
    uint16_t rows[kMatrixRows][8] = {};
    forLanes(w, [&](int lane) {
      const uint32_t value = word(w, op, 1 + i, lane);
      const int major = lane / 4, minor = lane % 4 * 2;
      for (int half = 0; half < 2; half++) {
        const auto x = static_cast<uint16_t>(value >> (16 * half));
        if (transposed)
          rows[minor + half][major] = x;
        else
          rows[major][minor + half] = x;
      }
    });
    for (int row = 0; row < kMatrixRows; row++) {
      const int lane = i * kMatrixRows + row;
      if (!(w.active >> lane & 1)) continue;
      uint8_t* to = w.block.memory().access(w.thread(lane), kShared, sharedPointer(w, op, 0, lane), kRowBytes, kRowBytes,
                                            Access::kWrite, op);
      if (to) std::memcpy(to, rows[row], kRowBytes);
    }
  }
  w.block.progressed();
  return next(w);
}

// "x4.trans.b16.p3" after "ldmatrix.sync.aligned.m8n8.".
bool parseMatrix(std::string_view rest, uint64_t& aux) {
  if (rest.size() < 2 || rest[0] != 'x' || (rest[1] != '1' && rest[1] != '2' && rest[1] != '4')) return false;
  aux = static_cast<uint64_t>(rest[1] - '0');
  rest.remove_prefix(2);
  if (rest.starts_with(".trans")) {
    aux |= 256;
    rest.remove_prefix(6);
  }
  return rest == ".b16.p3" || rest == ".b16.p0";
}

constexpr Intrinsic kTable[] = {
    {"mma.*", mma, 0, parseMmaName},
    {"ldmatrix.sync.aligned.m8n8.*", ldmatrix, 0, parseMatrix},
    {"stmatrix.sync.aligned.m8n8.*", stmatrix, 0, parseMatrix},
};

}  // namespace

std::span<const Intrinsic> matrixIntrinsics() { return kTable; }

}  // namespace nereid::emulator
