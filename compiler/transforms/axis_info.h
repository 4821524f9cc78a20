// What is known about integer and mask tiles: how they step along each dimension, and what they are multiples of. It decides how
// many neighbouring elements one memory access may take.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Value.h"

namespace nereid::tile {

// value[i0, i1, …] = base + Σ step[d]·i_d over the dimensions with a known step; base varies only along the others and is always
// a multiple of `divisor`. For i1 masks `group[d]` elements (aligned) along d are equal.
struct AxisInfo {
  std::vector<std::optional<int64_t>> step;
  int64_t divisor = 1;
  std::vector<int64_t> group;
};

class AxisAnalysis {
 public:
  const AxisInfo& of(mlir::Value value);
  // Scalars: what the value is a multiple of.
  int64_t divisorOf(mlir::Value scalar);
  // Elements along the last dimension that one access of `element_bytes` elements at `offsets` (from a base aligned to
  // `base_align` bytes) may take: a power of two, at most 16 bytes. The mask must not split it.
  int vectorWidth(mlir::Value offsets, mlir::Value mask, int element_bytes, int base_align);

 private:
  AxisInfo compute(mlir::Value value);
  llvm::DenseMap<mlir::Value, AxisInfo> memo_;
};

// Bytes that a kernel's pointer argument is aligned to (tile.align), looking through nothing; other pointers: 1.
int baseAlignment(mlir::Value base);

}  // namespace nereid::tile
