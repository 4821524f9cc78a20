// KV layouts as data: where the bytes of one token lie in a page. Programs, references and host code all read this description.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace nereid::kernels {

enum class Elem { kE4M3, kBF16 };
enum class ScaleElem { kUE8M0, kF32 };

int elemBytes(Elem elem);        // 1, 2
int scaleBytes(ScaleElem elem);  // 1, 4

// Scales of a piece: one for each block of `block` columns, one after another from `byte` on.
struct Scale {
  int byte = 0;  // in the token's footer if the layout has one, else in its row
  ScaleElem elem = ScaleElem::kUE8M0;
  int block = 64;
};

// Columns that lie one after another in a row and have one element type.
struct Piece {
  int byte = 0;  // in the row
  int cols = 0;
  Elem elem = Elem::kBF16;
  std::optional<Scale> scale;
};

// A page holds page_size rows of row_bytes, then page_size footers of footer_bytes, then padding up to page_align.
// Columns are those of the pieces in order. A call's values are the first head_dim_v columns of the same row.
struct KvLayout {
  std::string name;
  int row_bytes = 0;
  int footer_bytes = 0;  // 0: scales, if there are any, are in the row
  int page_align = 1;    // the bytes of a page are a multiple of this
  std::vector<Piece> pieces;

  int d() const;  // columns of a token
  int tokenBytes() const { return row_bytes + footer_bytes; }
  bool hasScales() const;
  // True if the scales are powers of two by their type, so that multiplying by them is exact.
  bool pow2Scales() const;
};

// Bytes of one page without a gap behind it. A pool's page stride may be larger.
int64_t pageBytes(const KvLayout& layout, int64_t page_size);
// Byte of a page at which the footers start; they follow the page's rows and do not depend on its stride.
int64_t footerOffset(const KvLayout& layout, int64_t page_size);

// A block of columns with one element type and at most one scale: the unit that programs and references loop over.
struct Cell {
  int col = 0;  // first column
  int cols = 0;
  int byte = 0;  // in the row
  Elem elem = Elem::kBF16;
  std::optional<ScaleElem> scale;
  int scale_byte = 0;  // in the footer if the layout has one, else in the row
};

inline constexpr int kCellCols = 64;  // width of cells without a scale
// MODEL1: 7 × 64 e4m3 and 64 bf16. V32: 4 × 128 e4m3 and 64 bf16. BF16: 9 × 64.
std::vector<Cell> cells(const KvLayout& layout);

// The registered layouts in the order that messages list them.
const std::vector<KvLayout>& allLayouts();
// Unknown names are a usage error that lists the known ones. The pointer lives as long as the process.
Result<const KvLayout*> findLayout(std::string_view name);
// Finds defects of a description: pieces that overlap or leave the row, blocks that do not divide columns, scales outside.
Status checkLayout(const KvLayout& layout);

}  // namespace nereid::kernels
