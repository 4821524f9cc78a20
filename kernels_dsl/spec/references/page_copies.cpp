// page_mark and page_split: which pages are touched, and their rows and footers in pages of fewer tokens.
#include <cstring>

#include "kernels_dsl/spec/references/reference.h"
#include "kernels_dsl/spec/references/token_rows.h"

namespace nereid::kernels {

Result<TensorMap> referencePageMark(const MarkCase& c) {
  NEREID_TRY(TensorMap out, initialOutputs(c));
  auto* const mask = out["mask"].as<int8_t>();
  const int64_t topk = c.indices.rank() ? c.indices.shape().back() : 1;
  const int64_t lanes_of_row = c.lengths && c.indices.dim(0) ? c.indices.elements() / c.indices.dim(0) : 0;
  for (int64_t i = 0; i < c.indices.elements(); ++i) {
    if (c.lengths && i % topk >= clampLength(c.lengths->as<int32_t>()[i / lanes_of_row], topk)) continue;
    const int64_t token = indexAt(c.indices, i);
    if (token >= 0 && token / c.problem.page_size < c.pages) mask[token / c.problem.page_size] = 1;
  }
  return out;
}

Result<TensorMap> referencePageSplit(const SplitCase& c) {
  NEREID_TRY(TensorMap out, initialOutputs(c));
  if (c.mark) {
    NEREID_TRY(TensorMap mark, referencePageMark(*c.mark));
    out["mask"] = mark["mask"];
  } else {
    std::memset(out["mask"].data(), 1, size_t(out["mask"].bytes()));
  }
  const int64_t ratio = c.problem.ratio(), tokens = c.problem.dst_page_size;
  if (ratio == 1) return out;
  const KvLayout& layout = *c.problem.layout;
  const auto* mask = out["mask"].as<int8_t>();
  for (int64_t page = 0; page < c.src.pages(); ++page) {
    if (!mask[page]) continue;
    const std::byte* src = c.src.bytes.data() + page * c.src.stride();
    const std::byte* src_footer = src + footerOffset(layout, c.problem.page_size);
    for (int64_t part = 0; part < ratio; ++part) {
      std::byte* dst = out["dst"].data() + (page * ratio + part) * c.dst_page_bytes;
      std::memcpy(dst, src + part * tokens * layout.row_bytes, size_t(tokens * layout.row_bytes));
      std::memcpy(dst + footerOffset(layout, tokens), src_footer + part * tokens * layout.footer_bytes,
                  size_t(tokens * layout.footer_bytes));
    }
  }
  return out;
}

}  // namespace nereid::kernels
