// page_split: pages of N tokens as N/n pages of n. One block a tile of chunks, which are numbered through all destination pages.
#include "kernels_dsl/programs/programs.h"

namespace nereid::kernels {
using dsl::Builder, dsl::Type, dsl::Value;

void pageSplit(Builder& b, const PageSplitProblem& p, const PageSplitTiles& t) {
  const SplitChunks chunks = splitChunks(p);
  const int64_t ratio = p.ratio(), per_page = chunks.perPage();
  const Value id = b.programId().to(Type::I64) * t.rows + b.range(t.rows).to(Type::I64);
  const Value dst_page = divUnsigned(id, per_page), chunk = id - dst_page * per_page;
  const Value src_page = divUnsigned(dst_page, ratio), part = dst_page - src_page * ratio;
  Value live = src_page < b.arg("pages");
  if (p.marks) live = live & (b.load(b.pointer("mask", Type::I8), src_page, live, 0) != 0);

  // Rows, then footers: in the source behind all its rows, in the destination behind its own.
  const Value of_row = part * (chunks.rows * chunks.bytes) + chunk * chunks.bytes;
  Value from = of_row;
  if (chunks.footers) {
    const int64_t footers_at = p.page_size * p.layout->row_bytes;
    const Value of_footer = part * (chunks.footers * chunks.bytes) + (chunk - chunks.rows) * chunks.bytes + footers_at;
    from = select(chunk < chunks.rows, of_row, of_footer);
  }
  const Value bytes =
      b.gatherRows(b.pointer("src", Type::I8), src_page * b.arg("src_page_stride") + from, chunks.bytes, live, t.align);
  b.scatterRows(b.pointer("dst", Type::I8), dst_page * b.arg("dst_page_stride") + chunk * chunks.bytes, bytes, live, t.align);
}

}  // namespace nereid::kernels
