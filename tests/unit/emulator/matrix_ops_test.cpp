// mma of every operand type, block scales, ldmatrix, stmatrix: against matrices multiplied the plain way, with fragments placed
// by the tables of the PTX ISA ("Matrix Fragments for mma.m16n8k8, k16, k32, k64") written out here anew.
#include <cmath>

#include "tests/unit/emulator/lane_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

struct ElementType {
  const char* name;
  int bits;  // in a register
  double (*value)(uint32_t);
  uint32_t codes;                         // codes to draw from, finite ones
  uint32_t (*place)(uint32_t) = nullptr;  // of a code in its register byte
};

double minifloat(uint32_t code, int e_bits, int m_bits, int bias) {
  const uint32_t m = code & ((1u << m_bits) - 1), e = code >> m_bits & ((1u << e_bits) - 1);
  const double x = e == 0 ? std::ldexp(m, 1 - bias - m_bits) : std::ldexp((1 << m_bits) + m, static_cast<int>(e) - bias - m_bits);
  return code >> (e_bits + m_bits) & 1 ? -x : x;
}
double f16(uint32_t c) { return minifloat(c, 5, 10, 15); }
double bf16(uint32_t c) { return floatOf(c << 16); }
double e4m3(uint32_t c) { return minifloat(c, 4, 3, 7); }
double e5m2(uint32_t c) { return minifloat(c, 5, 2, 15); }
double e3m2(uint32_t c) { return minifloat(c, 3, 2, 3); }
double e2m3(uint32_t c) { return minifloat(c, 2, 3, 1); }
double e2m1(uint32_t c) { return minifloat(c, 2, 1, 1); }
double s8(uint32_t c) { return static_cast<int8_t>(c); }
double u8(uint32_t c) { return c & 255; }

// Codes of moderate size, so that sums are exact in f32 where the formats allow it.
uint32_t draw(const ElementType& type, Numbers& numbers) {
  if (type.bits == 16) {
    const float x = static_cast<float>(numbers.below(33) - 16) / 8;  // exact in f16 and bf16
    return std::string(type.name) == "bf16" ? bitsOf(x) >> 16 : [&] {
      for (uint32_t c = 0; c < 65536; c++)
        if (f16(c) == x) return c;
      return 0u;
    }();
  }
  return static_cast<uint32_t>(numbers.below(static_cast<int>(type.codes)));
}

const ElementType kF16Type{"f16", 16, f16, 0}, kBF16Type{"bf16", 16, bf16, 0}, kS8Type{"s8", 8, s8, 256},
    kU8Type{"u8", 8, u8, 256};
const ElementType kE4M3Type{"e4m3", 8, e4m3, 0x60}, kE5M2Type{"e5m2", 8, e5m2, 0x48};
uint32_t shiftedByTwo(uint32_t c) { return c << 2; }
const ElementType kE3M2Type{"e3m2", 8, e3m2, 64}, kE2M3Type{"e2m3", 8, e2m3, 64}, kE2M1Type{"e2m1", 8, e2m1, 16, shiftedByTwo};
const ElementType kPackedE2M1Type{"e2m1", 4, e2m1, 16};

// The manual's tables: element i of A in a thread, by operand width.
void placeA(int bits, int lane, int i, int& row, int& k) {
  const int group = lane >> 2, t = lane % 4;
  if (bits == 16) {
    row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
    k = t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
  } else if (bits == 8) {
    row = (i < 4 || (i >= 8 && i < 12)) ? group : group + 8;
    k = t * 4 + (i & 3) + (i >= 8 ? 16 : 0);
  } else {
    row = (i < 8 || (i >= 16 && i < 24)) ? group : group + 8;
    k = t * 8 + (i & 7) + (i >= 16 ? 32 : 0);
  }
}
void placeB(int bits, int lane, int i, int& k, int& column) {
  const int n = 32 / bits;
  column = lane >> 2;
  k = lane % 4 * n + i % n + (i >= n ? 4 * n : 0);
}

struct Matrices {
  uint32_t a[16][64], b[64][8];
  double c[16][8];
};

struct MmaCase {
  const char* body;  // defines %d, a struct of 4; in scope: %x0… A words, %y0… B words, %z0…3 C as f32 or i32
  ElementType a, b;
  int k;
  bool integer = false;
};

// Words of a thread: A, B, C, then extra words.
std::vector<uint32_t> fragments(const MmaCase& c, const Matrices& m, int lane) {
  std::vector<uint32_t> words;
  const int a_words = 16 * c.k * c.a.bits / 1024, b_words = 8 * c.k * c.b.bits / 1024;
  for (int w = 0; w < a_words; w++) {
    uint32_t word = 0;
    for (int j = 0; j < 32 / c.a.bits; j++) {
      int row, k;
      placeA(c.a.bits, lane, w * (32 / c.a.bits) + j, row, k);
      const uint32_t code = m.a[row][k];
      word |= (c.a.place ? c.a.place(code) : code) << (j * c.a.bits);
    }
    words.push_back(word);
  }
  for (int w = 0; w < b_words; w++) {
    uint32_t word = 0;
    for (int j = 0; j < 32 / c.b.bits; j++) {
      int k, column;
      placeB(c.b.bits, lane, w * (32 / c.b.bits) + j, k, column);
      const uint32_t code = m.b[k][column];
      word |= (c.b.place ? c.b.place(code) : code) << (j * c.b.bits);
    }
    words.push_back(word);
  }
  for (int i = 0; i < 4; i++) {
    const double x = m.c[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
    words.push_back(c.integer ? static_cast<uint32_t>(static_cast<int32_t>(x)) : bitsOf(static_cast<float>(x)));
  }
  return words;
}

Matrices drawMatrices(const MmaCase& c, Numbers& numbers) {
  Matrices m;
  for (auto& row : m.a)
    for (uint32_t& x : row) x = draw(c.a, numbers);
  for (auto& row : m.b)
    for (uint32_t& x : row) x = draw(c.b, numbers);
  for (auto& row : m.c)
    for (double& x : row) x = numbers.below(64) - 32;
  return m;
}

std::string names(const char* prefix, int first, int count) {
  std::string text;
  for (int i = 0; i < count; i++) text += fmt::format("{}%{}{}", i ? ", " : "", prefix, first + i);
  return text;
}

// Words %a… to the operands of the case: f16 fragments are vectors, C is f32.
std::string prologue(const MmaCase& c) {
  const int a_words = 16 * c.k * c.a.bits / 1024, b_words = 8 * c.k * c.b.bits / 1024;
  std::string text;
  for (int i = 0; i < a_words + b_words; i++) {
    const bool is_a = i < a_words;
    const std::string name = fmt::format("{}{}", is_a ? "x" : "y", is_a ? i : i - a_words);
    const bool halves = std::string((is_a ? c.a : c.b).name) == "f16";
    text += halves ? fmt::format("%{} = llvm.bitcast %a{} : i32 to vector<2xf16>\n", name, i)
                   : fmt::format("%{} = llvm.bitcast %a{} : i32 to i32\n", name, i);
  }
  for (int i = 0; i < 4; i++)
    text += fmt::format("%z{} = llvm.bitcast %a{} : i32 to {}\n", i, a_words + b_words + i, c.integer ? "i32" : "f32");
  return text;
}

std::string epilogue(bool integer) {
  std::string text;
  const char* type = integer ? "i32" : "f32";
  for (int i = 0; i < 4; i++)
    text += fmt::format(
        "%d{0} = llvm.extractvalue %d[{0}] : !llvm.struct<({1}, {1}, {1}, {1})>\n%r{0} = llvm.bitcast %d{0} : {1} to i32\n", i,
        type);
  return text;
}

// `scale(row, column, k)`: what the product of the element is multiplied with.
void checkMma(const MmaCase& c, const std::string& op, int extra_words = 0,
              const std::function<uint32_t(int, int)>& extra = nullptr,
              const std::function<double(int, int, int)>& scale = nullptr) {
  Numbers numbers(7);
  const Matrices m = drawMatrices(c, numbers);
  const int words = static_cast<int>(fragments(c, m, 0).size());
  const LaneRun run = runLanes(words + extra_words, 4, prologue(c) + op + epilogue(c.integer), [&](int t, int i) {
    return i < words ? fragments(c, m, t)[static_cast<size_t>(i)] : extra(t, i - words);
  });
  for (int row = 0; row < 16; row++) {
    for (int column = 0; column < 8; column++) {
      double sum = m.c[row][column];
      for (int k = 0; k < c.k; k++)
        sum += c.a.value(m.a[row][k]) * c.b.value(m.b[k][column]) * (scale ? scale(row, column, k) : 1.0);
      const int lane = row % 8 * 4 + column / 2, i = (row >= 8 ? 2 : 0) + column % 2;
      const double got = c.integer ? static_cast<int32_t>(run.at(lane, i)) : floatOf(run.at(lane, i));
      CHECK(got == doctest::Approx(sum).epsilon(1e-6));
    }
  }
}

std::string nvvmMma(const MmaCase& c, const char* layout_types) {
  const int a_words = 16 * c.k * c.a.bits / 1024, b_words = 8 * c.k * c.b.bits / 1024;
  const std::string type_names =
      std::string(c.a.name) == "f16"
          ? ""
          : fmt::format("multiplicandAPtxType = #nvvm.mma_type<{}>, multiplicandBPtxType = #nvvm.mma_type<{}>, {}", c.a.name,
                        c.b.name, c.integer ? "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, " : "");
  return fmt::format(
      "%d = nvvm.mma.sync A[{}] B[{}] C[{}] {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {}shape = "
      "#nvvm.shape<m = 16, n = 8, k = {}>}} : {}\n",
      names("x", 0, a_words), names("y", 0, b_words), names("z", 0, 4), type_names, c.k, layout_types);
}

std::string byIntrinsic(const MmaCase& c, const std::string& name) {
  const int a_words = 16 * c.k * c.a.bits / 1024, b_words = 8 * c.k * c.b.bits / 1024;
  std::string types;
  for (int i = 0; i < a_words + b_words; i++) types += "i32, ";
  return fmt::format(
      "%d = llvm.call_intrinsic \"llvm.nvvm.mma.{}\"({}, {}, {}) : ({}f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, "
      "f32)>\n",
      name, names("x", 0, a_words), names("y", 0, b_words), names("z", 0, 4), types);
}

}  // namespace

TEST_CASE("mma.sync f16, bf16, s8, u8") {
  const char* f32_result = "-> !llvm.struct<(f32, f32, f32, f32)>";
  for (int k : {8, 16}) {
    CAPTURE(k);
    MmaCase c{"", kF16Type, kF16Type, k};
    checkMma(c, nvvmMma(c, (std::string("(vector<2xf16>, vector<2xf16>, f32) ") + f32_result).c_str()));
    c = {"", kBF16Type, kBF16Type, k};
    checkMma(c, nvvmMma(c, (std::string("(i32, i32, f32) ") + f32_result).c_str()));
  }
  for (int k : {16, 32}) {
    CAPTURE(k);
    for (auto& [a, b] : {std::pair{kS8Type, kS8Type}, {kU8Type, kU8Type}, {kS8Type, kU8Type}, {kU8Type, kS8Type}}) {
      MmaCase c{"", a, b, k, true};
      checkMma(c, nvvmMma(c, "(i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>"));
    }
  }
}

TEST_CASE("mma fp8 by intrinsic") {
  for (const ElementType& type : {kE4M3Type, kE5M2Type}) {
    CAPTURE(type.name);
    MmaCase c{"", type, type, 32};
    checkMma(c, byIntrinsic(c, fmt::format("m16n8k32.row.col.f32.{0}.{0}.f32", type.name)));
  }
}

TEST_CASE("mma kind::f8f6f4: each pair of formats") {
  const ElementType types[] = {kE4M3Type, kE5M2Type, kE3M2Type, kE2M3Type, kE2M1Type};
  for (const ElementType& a : types) {
    for (const ElementType& b : types) {
      CAPTURE(a.name);
      CAPTURE(b.name);
      MmaCase c{"", a, b, 32};
      checkMma(c, byIntrinsic(c, fmt::format("m16n8k32.row.col.kind.f8f6f4.f32.{}.{}.f32", a.name, b.name)));
    }
  }
}

TEST_CASE("mma.block_scale mxf8f6f4: scales by row and column, every selector") {
  for (int byte : {0, 1, 2, 3}) {
    for (int thread : {0, 1}) {
      CAPTURE(byte);
      CAPTURE(thread);
      MmaCase c{"", kE4M3Type, kE4M3Type, 32};
      const auto codes = [](int t, int i) { return 0x78808876u + static_cast<uint32_t>(t * 0x01000101 + i * 0x00030005); };
      const std::string op = fmt::format(
          "%sel_b = llvm.mlir.constant({} : i16) : i16\n%sel_t = llvm.mlir.constant({} : i16) : i16\n"
          "%d = nvvm.mma.block_scale A[%x0, %x1, %x2, %x3] B[%y0, %y1] C[%z0, %z1, %z2, %z3] scaleA[%a10, %sel_b, %sel_t] "
          "scaleB[%a11, %sel_b, %sel_t] "
          "{{shape = #nvvm.shape<m = 16, n = 8, k = 32>, multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = "
          "#nvvm.mma_type<e4m3>, "
          "scaleVecSize = #nvvm.scale_vec_size<x1>, blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = "
          "#nvvm.block_scale_kind<mxf8f6f4>}} : "
          "(i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>\n",
          byte, thread);
      checkMma(c, op, 2, codes, [&](int row, int column, int) {
        // Two threads of a quad hold the scales of rows q and q + 8, one holds that of column q.
        const uint32_t a = codes(row % 8 * 4 + thread * 2 + row / 8, 0) >> (8 * byte) & 255,
                       b = codes(column * 4 + thread, 1) >> (8 * byte) & 255;
        return std::pow(2.0, static_cast<double>(a) - 127) * std::pow(2.0, static_cast<double>(b) - 127);
      });
    }
  }
}

TEST_CASE("mma.block_scale mxf4 (two scales along k) and mxf4nvf4 (four)") {
  struct Form {
    const char *kind, *vec, *format;
    int blocks;
  };
  for (const Form& f : {Form{"mxf4", "x2", "ue8m0", 2}, Form{"mxf4nvf4", "x2", "ue8m0", 2}, Form{"mxf4nvf4", "x4", "ue4m3", 4}}) {
    for (int byte = 0; byte + f.blocks <= 4; byte += f.blocks) {
      CAPTURE(f.kind);
      CAPTURE(byte);
      MmaCase c{"", kPackedE2M1Type, kPackedE2M1Type, 64};
      const bool e4m3_scale = f.blocks == 4;
      const auto codes = [&](int t, int i) {
        uint32_t word = 0;
        for (int b = 0; b < 4; b++) {
          const uint32_t x = static_cast<uint32_t>(t * 5 + i * 3 + b * 7) % 16;
          word |= (e4m3_scale ? 0x30 + x : 122 + x % 8) << (8 * b);
        }
        return word;
      };
      const std::string op = fmt::format(
          "%sel_b = llvm.mlir.constant({} : i16) : i16\n%sel_t = llvm.mlir.constant(1 : i16) : i16\n"
          "%d = nvvm.mma.block_scale A[%x0, %x1, %x2, %x3] B[%y0, %y1] C[%z0, %z1, %z2, %z3] scaleA[%a10, %sel_b, %sel_t] "
          "scaleB[%a11, %sel_b, %sel_t] "
          "{{shape = #nvvm.shape<m = 16, n = 8, k = 64>, multiplicandAPtxType = #nvvm.mma_type<e2m1>, multiplicandBPtxType = "
          "#nvvm.mma_type<e2m1>, "
          "scaleVecSize = #nvvm.scale_vec_size<{}>, blockScaleFormat = #nvvm.block_scale_format<{}>, kind = "
          "#nvvm.block_scale_kind<{}>}} : "
          "(i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>\n",
          byte, f.vec, f.format, f.kind);
      checkMma(c, op, 2, codes, [&](int row, int column, int k) {
        const int at = 8 * (byte + k / (64 / f.blocks));
        const uint32_t a = codes(row % 8 * 4 + 2 + row / 8, 0) >> at & 255, b = codes(column * 4 + 1, 1) >> at & 255;
        const auto value = [&](uint32_t x) { return e4m3_scale ? e4m3(x) : std::pow(2.0, static_cast<double>(x) - 127); };
        return value(a) * value(b);
      });
    }
  }
}

namespace {

// Rows of 8 halves at 16-byte steps; the half at [row][column] is row * 256 + column.
const char* const kFillShared =
    "%row_bytes = llvm.mlir.constant(16 : i32) : i32\n"
    "%at = llvm.mul %tid, %row_bytes : i32\n"
    "%p = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n"
    "%p1 = llvm.getelementptr %p[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
    "%p2 = llvm.getelementptr %p[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
    "%p3 = llvm.getelementptr %p[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
    "llvm.store %a0, %p : i32, !llvm.ptr<3>\n"
    "llvm.store %a1, %p1 : i32, !llvm.ptr<3>\n"
    "llvm.store %a2, %p2 : i32, !llvm.ptr<3>\n"
    "llvm.store %a3, %p3 : i32, !llvm.ptr<3>\n"
    "nvvm.bar.warp.sync %all : i32\n";

uint32_t halves(int row, int word) {
  return static_cast<uint32_t>(row * 256 + word * 2) | static_cast<uint32_t>(row * 256 + word * 2 + 1) << 16;
}

}  // namespace

TEST_CASE("ldmatrix x1, x2, x4, plain and transposed") {
  for (int count : {1, 2, 4}) {
    for (bool transposed : {false, true}) {
      CAPTURE(count);
      CAPTURE(transposed);
      const std::string types =
          count == 1 ? "i32" : fmt::format("!llvm.struct<({})>", count == 2 ? "i32, i32" : "i32, i32, i32, i32");
      std::string body = kFillShared;
      body += fmt::format(
          "%m = nvvm.ldmatrix %p {{num = {} : i32, layout = #nvvm.mma_layout<{}>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = "
          "8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : "
          "(!llvm.ptr<3>) -> {}\n",
          count, transposed ? "col" : "row", types);
      for (int i = 0; i < count; i++)
        body += count == 1 ? "%r0 = llvm.or %m, %c0 : i32\n" : fmt::format("%r{0} = llvm.extractvalue %m[{0}] : {1}\n", i, types);
      const LaneRun run = runLanes(4, count, body, [](int t, int i) { return halves(t, i); });
      for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < count; i++) {
          // Matrix i has the rows that lanes 8i…8i+7 address; a lane gets two neighbours of row lane/4, or of column lane/4.
          uint32_t expected;
          if (!transposed)
            expected = halves(8 * i + lane / 4, lane % 4);
          else
            expected = static_cast<uint32_t>((8 * i + lane % 4 * 2) * 256 + lane / 4) |
                       static_cast<uint32_t>((8 * i + lane % 4 * 2 + 1) * 256 + lane / 4) << 16;
          CHECK(run.at(lane, i) == expected);
        }
      }
    }
  }
}

TEST_CASE("stmatrix is the inverse of ldmatrix") {
  for (bool transposed : {false, true}) {
    CAPTURE(transposed);
    const std::string layout = transposed ? "col" : "row";
    const std::string body =
        "%row_bytes = llvm.mlir.constant(16 : i32) : i32\n"
        "%at = llvm.mul %tid, %row_bytes : i32\n"
        "%p = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n"
        "nvvm.stmatrix %p, %a0, %a1, %a2, %a3 {layout = #nvvm.mma_layout<" +
        layout +
        ">, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, "
        "i32, i32, i32\n"
        "nvvm.bar.warp.sync %all : i32\n"
        "%r0 = llvm.load %p : !llvm.ptr<3> -> i32\n"
        "%p3 = llvm.getelementptr %p[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
        "%r1 = llvm.load %p3 : !llvm.ptr<3> -> i32\n";
    // Lane l, register i holds elements (l/4, l%4*2) and its right neighbour of matrix i, or the transposed ones.
    const auto element = [](int matrix, int row, int column) {
      return static_cast<uint32_t>(matrix * 4096 + row * 256 + column);
    };
    const LaneRun run = runLanes(4, 2, body, [&](int t, int i) {
      const int major = t / 4, minor = t % 4 * 2;
      return transposed ? element(i, minor, major) | element(i, minor + 1, major) << 16
                        : element(i, major, minor) | element(i, major, minor + 1) << 16;
    });
    for (int t = 0; t < 32; t++) {
      CHECK(run.at(t, 0) == (element(t / 8, t % 8, 0) | element(t / 8, t % 8, 1) << 16));
      CHECK(run.at(t, 1) == (element(t / 8, t % 8, 6) | element(t / 8, t % 8, 7) << 16));
    }
  }
}
