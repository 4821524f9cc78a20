// Shapes and element types of mma instructions, from their names, and the maps between registers and matrices (PTX ISA 8.8,
// "Matrix Fragments for mma.m16n8k…", "Block Scaling").
#pragma once
#include <cstdint>
#include <string_view>

namespace nereid::emulator {

enum class Element : uint8_t { kF16, kBF16, kTF32, kS8, kU8, kE4M3, kE5M2, kE3M2, kE2M3, kE2M1, kE2M1Packed };
int elementBits(Element element);                      // in a register: 4, 8, 16 or 32
double decodeElement(Element element, uint32_t bits);  // e2m1, e2m3 and e3m2 in bytes as mma takes them: e2m1 in bits 2…5

enum class ScaleFormat : uint8_t { kNone, kUE8M0, kUE4M3 };

// m16n8k…: A is 16 rows of k, B k rows of 8 columns.
struct MmaForm {
  Element a = Element::kF16, b = Element::kF16;
  enum class Sum : uint8_t { kF32, kF16, kS32 } sum = Sum::kF32;
  uint8_t k = 16;
  ScaleFormat scale = ScaleFormat::kNone;
  uint8_t scale_blocks = 0;  // along k: 1 (1X), 2 (2X), 4 (4X)
  bool saturate = false;     // kS32

  uint64_t packed() const;
  static MmaForm unpack(uint64_t bits);
  int aRegisters() const { return 16 * k * elementBits(a) / 32 / 32; }
  int bRegisters() const { return 8 * k * elementBits(b) / 32 / 32; }
};
// `name` without "llvm.nvvm.mma."; false where it is none of these.
bool parseMma(std::string_view name, MmaForm& form);

struct Place {
  int row, column;
};
// Element `i` of register `r` of a lane. B's row is along k.
inline Place placeInA(int bits, int lane, int r, int i) {
  const int n = 32 / bits;
  return {lane / 4 + 8 * (r & 1), lane % 4 * n + i + (r >> 1) * 4 * n};
}
inline Place placeInB(int bits, int lane, int r, int i) {
  const int n = 32 / bits;
  return {lane % 4 * n + i + r * 4 * n, lane / 4};
}
inline Place placeInC(int lane, int i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

}  // namespace nereid::emulator
