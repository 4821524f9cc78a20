// A small kernel for sm_120a only: a tile of an MXFP8 product, D [16, 8] = Σ over 32-wide blocks of (A·scale)·(B·scale), with the
// four blocks' scales of a row or column in one word and the byte selector stepping through them.
#include <cmath>

#include "tests/unit/emulator/lane_kernel.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

constexpr int kK = 128, kBlock = 32;

// %a [16, 128] and %b [8, 128] e4m3 by rows, %sa [16] and %sb [8] words of four ue8m0 codes, %d [16, 8] f32.
std::string kernelText() {
  std::string text =
      "llvm.func @mxfp8(%a: !llvm.ptr, %b: !llvm.ptr, %sa: !llvm.ptr, %sb: !llvm.ptr, %d: !llvm.ptr) attributes {nvvm.kernel} {\n"
      "%lane = nvvm.read.ptx.sreg.tid.x : i32\n"
      "%c1 = llvm.mlir.constant(1 : i32) : i32\n%c2 = llvm.mlir.constant(2 : i32) : i32\n%c3 = llvm.mlir.constant(3 : i32) : "
      "i32\n%c4 = "
      "llvm.mlir.constant(4 : i32) : i32\n"
      "%c8 = llvm.mlir.constant(8 : i32) : i32\n%row_bytes = llvm.mlir.constant(128 : i32) : i32\n"
      "%group = llvm.lshr %lane, %c2 : i32\n%t = llvm.and %lane, %c3 : i32\n%t4 = llvm.mul %t, %c4 : i32\n"
      "%row0 = llvm.mul %group, %row_bytes : i32\n%at = llvm.add %row0, %t4 : i32\n"
      "%pa = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i8\n%pb = llvm.getelementptr %b[%at] : (!llvm.ptr, i32) "
      "-> "
      "!llvm.ptr, i8\n"
      // Lanes 0 and 1 of a quad hold the scales of rows group and group + 8; lane 0 that of column group.
      "%odd = llvm.and %lane, %c1 : i32\n%odd8 = llvm.mul %odd, %c8 : i32\n%srow = llvm.add %group, %odd8 : i32\n"
      "%psa = llvm.getelementptr %sa[%srow] : (!llvm.ptr, i32) -> !llvm.ptr, i32\n%psb = llvm.getelementptr %sb[%group] : "
      "(!llvm.ptr, i32) "
      "-> !llvm.ptr, i32\n"
      "%scale_a = llvm.load %psa : !llvm.ptr -> i32\n%scale_b = llvm.load %psb : !llvm.ptr -> i32\n"
      "%zero = llvm.mlir.constant(0.0 : f32) : f32\n%thread = llvm.mlir.constant(0 : i16) : i16\n";
  std::string sums = "%zero, %zero, %zero, %zero";
  for (int block = 0; block < kK / kBlock; block++) {
    auto load = [&](const char* name, const char* base, int offset) {
      text += fmt::format(
          "%p_{0}{1} = llvm.getelementptr {2}[{3}] : (!llvm.ptr) -> !llvm.ptr, i8\n%{0}{1} = llvm.load %p_{0}{1} : !llvm.ptr -> "
          "i32\n",
          name, block, base, offset);
    };
    load("a0_", "%pa", block * kBlock);
    load("a1_", "%pa", block * kBlock + 8 * kK);
    load("a2_", "%pa", block * kBlock + 16);
    load("a3_", "%pa", block * kBlock + 8 * kK + 16);
    load("b0_", "%pb", block * kBlock);
    load("b1_", "%pb", block * kBlock + 16);
    text += fmt::format(
        "%byte{0} = llvm.mlir.constant({0} : i16) : i16\n"
        "%m{0} = nvvm.mma.block_scale A[%a0_{0}, %a1_{0}, %a2_{0}, %a3_{0}] B[%b0_{0}, %b1_{0}] C[{1}] scaleA[%scale_a, "
        "%byte{0}, "
        "%thread] scaleB[%scale_b, %byte{0}, %thread] "
        "{{shape = #nvvm.shape<m = 16, n = 8, k = 32>, multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = "
        "#nvvm.mma_type<e4m3>, scaleVecSize = #nvvm.scale_vec_size<x1>, "
        "blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf8f6f4>}} : (i32, i32, f32) -> "
        "!llvm.struct<(f32, f32, f32, f32)>\n",
        block, sums);
    sums.clear();
    for (int i = 0; i < 4; i++) {
      text += fmt::format("%s{0}_{1} = llvm.extractvalue %m{0}[{1}] : !llvm.struct<(f32, f32, f32, f32)>\n", block, i);
      sums += fmt::format("{}%s{}_{}", i ? ", " : "", block, i);
    }
  }
  text += "%t2 = llvm.mul %t, %c2 : i32\n%drow = llvm.mul %group, %c8 : i32\n%dat = llvm.add %drow, %t2 : i32\n";
  text += "%pd = llvm.getelementptr %d[%dat] : (!llvm.ptr, i32) -> !llvm.ptr, f32\n";
  const int places[] = {0, 1, 64, 65};
  for (int i = 0; i < 4; i++) {
    text += fmt::format(
        "%pd{0} = llvm.getelementptr %pd[{1}] : (!llvm.ptr) -> !llvm.ptr, f32\nllvm.store %s3_{0}, %pd{0} : f32, !llvm.ptr\n", i,
        places[i]);
  }
  return text + "llvm.return\n}\n";
}

double e4m3(uint8_t c) {
  const int e = c >> 3 & 15, m = c & 7;
  const double x = e ? std::ldexp(8 + m, e - 10) : std::ldexp(m, -9);
  return c & 128 ? -x : x;
}

}  // namespace

TEST_CASE("a tile of an MXFP8 product on sm_120a") {
  std::vector<uint8_t> a(16 * kK), b(8 * kK);
  std::vector<uint32_t> sa(16), sb(8);
  std::vector<float> d(16 * 8);
  Numbers numbers(21);
  for (uint8_t& v : a) v = static_cast<uint8_t>(numbers.below(0x68) | numbers.below(2) << 7);
  for (uint8_t& v : b) v = static_cast<uint8_t>(numbers.below(0x68) | numbers.below(2) << 7);
  for (auto* words : {&sa, &sb})
    for (uint32_t& v : *words)
      for (int i = 0; i < 4; i++) v |= static_cast<uint32_t>(121 + numbers.below(12)) << (8 * i);
  for (bool optimise : {false, true}) {
    const Kernel kernel{loadText(kernelText(), "sm_120a", optimise), 32, 0};
    std::fill(d.begin(), d.end(), NAN);
    const EmulationReport report =
        run(kernel, 1, {slot(a.data()), slot(b.data()), slot(sa.data()), slot(sb.data()), slot(d.data())},
            {input(a, "a"), input(b, "b"), input(sa, "scales of a"), input(sb, "scales of b"), output(d, "d")});
    CHECK_MESSAGE(report.clean(), report.text());
    for (int row = 0; row < 16; row++) {
      for (int column = 0; column < 8; column++) {
        double sum = 0;
        for (int k = 0; k < kK; k++) {
          const int at = 8 * (k / kBlock);
          const double scale = std::exp2(static_cast<double>(sa[row] >> at & 255) - 127) *
                               std::exp2(static_cast<double>(sb[column] >> at & 255) - 127);
          sum += e4m3(a[row * kK + k]) * e4m3(b[column * kK + k]) * scale;
        }
        CHECK(d[row * 8 + column] == doctest::Approx(sum).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("other targets refuse it") {
  const auto program = tryLoadText(kernelText(), "sm_90a");
  REQUIRE(!program.ok());
  CHECK(program.diag().code == Code::kUnsupported);
}
