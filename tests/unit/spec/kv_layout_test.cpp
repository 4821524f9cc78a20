// KV layouts: the three descriptions, the sizes of pages, cells, and the check of a description.
#include "kernels_dsl/spec/kv_layout.h"

#include <doctest/doctest.h>

using namespace nereid;
using namespace nereid::kernels;

namespace {

const KvLayout& layout(const char* name) {
  auto found = findLayout(name);
  REQUIRE(found.ok());
  return **found;
}

}  // namespace

TEST_CASE("columns and bytes of a token") {
  CHECK(layout("MODEL1").d() == 512);
  CHECK(layout("MODEL1").tokenBytes() == 584);
  CHECK(layout("V32").d() == 576);
  CHECK(layout("V32").tokenBytes() == 656);
  CHECK(layout("BF16").d() == 576);
  CHECK(layout("BF16").tokenBytes() == 1152);
  CHECK(layout("MODEL1").pow2Scales());
  CHECK_FALSE(layout("V32").pow2Scales());
  CHECK(layout("V32").hasScales());
  CHECK_FALSE(layout("BF16").hasScales());
}

TEST_CASE("every registered layout describes itself without a defect") {
  CHECK(allLayouts().size() >= 3);
  for (const KvLayout& l : allLayouts()) {
    CAPTURE(l.name);
    CHECK(checkLayout(l).ok());
  }
}

TEST_CASE("bytes of a page: MODEL1 is padded to a multiple of 576, others are dense") {
  CHECK(pageBytes(layout("MODEL1"), 64) == 37440);
  CHECK(pageBytes(layout("MODEL1"), 256) == 149760);
  CHECK(pageBytes(layout("MODEL1"), 1) == 1152);
  CHECK(pageBytes(layout("MODEL1"), 72) == 73 * 576);
  CHECK(pageBytes(layout("MODEL1"), 73) == 75 * 576);
  CHECK(pageBytes(layout("V32"), 3) == 3 * 656);
  CHECK(pageBytes(layout("BF16"), 7) == 7 * 1152);
  CHECK(pageBytes(layout("MODEL1"), int64_t{1} << 24) > int64_t{1} << 32);
  CHECK(footerOffset(layout("MODEL1"), 256) == 147456);
}

TEST_CASE("cells cover the columns in order, with their bytes and scales") {
  for (const KvLayout& l : allLayouts()) {
    CAPTURE(l.name);
    int col = 0;
    for (const Cell& c : cells(l)) {
      CHECK(c.col == col);
      CHECK(c.byte + c.cols * elemBytes(c.elem) <= l.row_bytes);
      col += c.cols;
    }
    CHECK(col == l.d());
  }
  const auto model1 = cells(layout("MODEL1"));
  REQUIRE(model1.size() == 8);
  CHECK(model1[6].byte == 384);
  CHECK(model1[6].scale_byte == 6);
  CHECK(model1[6].scale == ScaleElem::kUE8M0);
  CHECK(model1[7].byte == 448);
  CHECK(model1[7].elem == Elem::kBF16);
  CHECK_FALSE(model1[7].scale.has_value());
  const auto v32 = cells(layout("V32"));
  REQUIRE(v32.size() == 5);
  CHECK(v32[3].cols == 128);
  CHECK(v32[3].scale_byte == 524);
  CHECK(v32[3].scale == ScaleElem::kF32);
  CHECK(v32[4].byte == 528);
  CHECK(v32[4].col == 512);
  const auto bf16 = cells(layout("BF16"));
  REQUIRE(bf16.size() == 9);
  CHECK(bf16[8].byte == 1024);
}

TEST_CASE("cells of a piece without scale whose width is no multiple of the cell") {
  const KvLayout odd{.name = "odd", .row_bytes = 200, .pieces = {{.byte = 0, .cols = 100, .elem = Elem::kBF16}}};
  const auto parts = cells(odd);
  REQUIRE(parts.size() == 2);
  CHECK(parts[1].cols == 36);
  CHECK(parts[1].byte == 128);
}

TEST_CASE("an unknown layout lists the known ones") {
  auto r = findLayout("MODEL9");
  REQUIRE_FALSE(r.ok());
  CHECK(r.diag().code == Code::kUsage);
  CHECK(r.diag().text().find("MODEL9") != std::string::npos);
  for (const KvLayout& l : allLayouts()) CHECK(r.diag().fix.find(l.name) != std::string::npos);
}

TEST_CASE("a defective description is refused") {
  const KvLayout good = layout("MODEL1");
  auto refused = [](KvLayout l, const char* word) {
    const Status s = checkLayout(l);
    REQUIRE_FALSE(s.ok());
    CHECK(s.diag().what.find(word) != std::string::npos);
  };
  KvLayout l = good;
  l.pieces[1].byte = 440;
  refused(l, "share byte 440");
  l = good;
  l.row_bytes = 570;
  refused(l, "outside the row");
  l = good;
  l.pieces[0].scale->block = 60;
  refused(l, "do not divide");
  l = good;
  l.footer_bytes = 6;
  refused(l, "outside the footer");
  l = layout("V32");
  l.pieces[0].scale->byte = 520;  // overlaps the bf16 columns at 528
  refused(l, "share byte 528");
  l = good;
  l.pieces[1].cols = 0;
  refused(l, "0 columns");
  l = good;
  l.page_align = 0;
  refused(l, "page_align");
}
