// The registry of KV layouts and what follows from a description.
#include "kernels_dsl/spec/kv_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels_dsl/spec/layouts/layouts.h"

namespace nereid::kernels {
namespace {

Diag defect(const KvLayout& layout, std::string what) {
  return Diag{Code::kInternal, std::move(what), "KV layout " + layout.name, "correct its file in kernels_dsl/spec/layouts"};
}

struct Span {
  int begin, end;
};

// Spans of one region (row or footer) may not overlap nor leave it.
Status checkSpans(const KvLayout& layout, const char* region, int bytes, std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  int end = 0;
  for (const Span& s : spans) {
    if (s.begin < 0 || s.end > bytes)
      return defect(layout, fmt::format("bytes {} to {} are outside the {} of {} bytes", s.begin, s.end, region, bytes));
    if (s.begin < end) return defect(layout, fmt::format("two parts share byte {} of the {}", s.begin, region));
    end = s.end;
  }
  return {};
}

}  // namespace

int elemBytes(Elem elem) { return elem == Elem::kE4M3 ? 1 : 2; }
int scaleBytes(ScaleElem elem) { return elem == ScaleElem::kUE8M0 ? 1 : 4; }

int KvLayout::d() const {
  int cols = 0;
  for (const Piece& p : pieces) cols += p.cols;
  return cols;
}

bool KvLayout::hasScales() const {
  return std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.scale.has_value(); });
}

bool KvLayout::pow2Scales() const {
  return std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return !p.scale || p.scale->elem == ScaleElem::kUE8M0; });
}

int64_t pageBytes(const KvLayout& layout, int64_t page_size) {
  const int64_t bytes = page_size * layout.tokenBytes();
  return (bytes + layout.page_align - 1) / layout.page_align * layout.page_align;
}

int64_t footerOffset(const KvLayout& layout, int64_t page_size) { return page_size * layout.row_bytes; }

std::vector<Cell> cells(const KvLayout& layout) {
  std::vector<Cell> out;
  int col = 0;
  for (const Piece& p : layout.pieces) {
    const int width = p.scale ? p.scale->block : kCellCols;
    for (int at = 0; at < p.cols; at += width) {
      Cell c{.col = col + at, .cols = std::min(width, p.cols - at), .byte = p.byte + at * elemBytes(p.elem), .elem = p.elem};
      if (p.scale) {
        c.scale = p.scale->elem;
        c.scale_byte = p.scale->byte + at / width * scaleBytes(p.scale->elem);
      }
      out.push_back(c);
    }
    col += p.cols;
  }
  return out;
}

const std::vector<KvLayout>& allLayouts() {
  static const std::vector<KvLayout> layouts = {model1Layout(), v32Layout(), bf16Layout()};
  return layouts;
}

Result<const KvLayout*> findLayout(std::string_view name) {
  std::string known;
  for (const KvLayout& l : allLayouts()) {
    if (l.name == name) return &l;
    known += (known.empty() ? "" : ", ") + l.name;
  }
  return Diag{Code::kUsage, fmt::format("unknown KV layout '{}'", name), "layout", "layouts are " + known};
}

Status checkLayout(const KvLayout& layout) {
  if (layout.row_bytes < 1 || layout.footer_bytes < 0 || layout.page_align < 1 || layout.pieces.empty())
    return defect(layout, "a row needs bytes and pieces, page_align is at least 1");
  std::vector<Span> row, footer;
  for (const Piece& p : layout.pieces) {
    if (p.cols < 1) return defect(layout, fmt::format("the piece at byte {} has {} columns", p.byte, p.cols));
    row.push_back({p.byte, p.byte + p.cols * elemBytes(p.elem)});
    if (!p.scale) continue;
    if (p.scale->block < 1 || p.cols % p.scale->block)
      return defect(layout, fmt::format("scale blocks of {} do not divide {} columns", p.scale->block, p.cols));
    auto& region = layout.footer_bytes ? footer : row;
    region.push_back({p.scale->byte, p.scale->byte + p.cols / p.scale->block * scaleBytes(p.scale->elem)});
  }
  NEREID_CHECK_OK(checkSpans(layout, "row", layout.row_bytes, row));
  return checkSpans(layout, "footer", layout.footer_bytes, footer);
}

}  // namespace nereid::kernels
