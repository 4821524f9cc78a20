// Register layouts of tiles: which element of a tile lives in which register of which lane of which warp. Plain C++, no MLIR.
//
// A layout is linear over bits: register index, lane index and warp index are read as bit strings, each bit has a basis (a step
// in the tile's coordinates), and an element's coordinate is the sum of the bases of the bits that are set. Bases of different
// bits never overlap, so the sum is also the exclusive or. A bit with a zero basis replicates. Tile dimensions are powers of two.
//
// Registers are counted in elements. Elements of 16 and 8 bits are packed into 32-bit registers in index order: registers 2i and
// 2i+1 (or 4i … 4i+3) share one, so a constructor's bit order also says what an instruction's operand register holds.
//
// Fragment maps: PTX ISA, "Matrix fragments for mma.m16n8k16" (f16, bf16), those of m16n8k32 (8 bits) and ldmatrix.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/spec/schedule.h"

namespace nereid::layout {

using Coord = std::vector<int32_t>;

struct Layout {
  int rank = 0;
  std::vector<Coord> reg, lane, warp;  // lane has 5 bits; warp as many as its role needs
  uint32_t partial = 0;                // warp bits whose copies are addends of the value and not the value itself

  int registers() const { return 1 << reg.size(); }
  Coord at(int r, int l, int w) const;
  Coord regOffset(int r) const { return at(r, 0, 0); }
  // Register whose offset is `offset` (lane and warp 0), or none.
  std::optional<int> registerAt(const Coord& offset) const;
  std::vector<int32_t> shape() const;  // extent covered in each dimension (bits that all bases span)
  std::string text() const;
  bool operator==(const Layout&) const = default;
};

// How many neighbouring elements of the reduction dimension (k) or the columns (n) an operand's lane holds together. It follows
// from the operand's bytes in shared memory: ldmatrix moves 16-bit units, so an 8-bit operand comes in pairs. Both operands and
// the accumulator of one dot agree on it, which only permutes k (a sum) or names columns in another order.
struct FragmentOrder {
  int k = 2;      // 2 or 4
  int n = 1;      // 1 or 2
  int bytes = 2;  // of an operand's element: 1 or 2
  int kOfStep() const { return 32 / bytes; }
  bool operator==(const FragmentOrder&) const = default;
};

// mma.sync m16n8k16, m16n8k32 for operands of one byte. Atoms (16 rows, 8·order.n columns, order.kOfStep() of k) are dealt to
// warps round robin: the warp bits are, from low to high, k, n, m; warps beyond the grid hold copies. `warp_bits` is the role's
// number of warp bits.
Layout accumulator(int m, int n, const Grid& grid, FragmentOrder order, int warp_bits, bool partial_over_k);
Layout operandA(int m, int k, const Grid& grid, FragmentOrder order, int warp_bits);
Layout operandB(int k, int n, const Grid& grid, FragmentOrder order, int warp_bits);

// Row-major tiles for global memory: `vector` neighbouring elements of the last dimension a lane, then lanes along the last
// dimension, then along the others, then warps, then registers.
Layout blocked(const std::vector<int32_t>& shape, int vector, int warp_bits);

// The layout of a reduction of `parent` over `dim`: registers that differ only in `dim` become one, lanes and warps keep copies.
Layout sliceOf(const Layout& parent, int dim);
// Adds a dimension of `size` elements at `dim`, all of it in registers (lowest bits).
Layout inflate(const Layout& child, int dim, int size);
Layout transposed(const Layout& layout);  // 2-D
// Drops partial: the same places hold the whole sum.
Layout summed(Layout layout);

}  // namespace nereid::layout
