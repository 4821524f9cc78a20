// References: the golden files, and properties that hold whatever the numbers are.
#include <cmath>
#include <filesystem>
#include <limits>

#include "kernels_dsl/spec/case_file.h"
#include "kernels_dsl/spec/compare.h"
#include "kernels_dsl/spec/references/reference.h"
#include "kernels_dsl/spec/references/token_rows.h"
#include "tests/unit/spec/cases.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TensorMap computed(const Call& call) {
  auto r = computeReference(call);
  if (!r.ok()) FAIL(r.diag().text());
  return *r;
}

DecodeCase decodeCase(const TensorFile& file) {
  auto r = parseCase(file);
  if (!r.ok()) FAIL(r.diag().text());
  return std::get<DecodeCase>(r->call);
}

bool sameBits(const TensorMap& a, const TensorMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, t] : a) {
    const Tensor& u = b.at(name);
    if (t.shape() != u.shape() || std::memcmp(t.data(), u.data(), size_t(t.bytes())) != 0) return false;
  }
  return true;
}

bool hasNan(const Tensor& bf16) {
  for (int64_t i = 0; i < bf16.elements(); ++i)
    if (std::isnan(decodeBF16(bf16.as<uint16_t>()[i]))) return true;
  return false;
}

// A copy that tests may write.
Tensor copyOf(const Tensor& t) {
  Tensor copy = zeros(t.dtype(), t.shape());
  std::memcpy(copy.data(), t.data(), size_t(t.bytes()));
  return copy;
}

}  // namespace

TEST_CASE("every golden file is met within the limits") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NEREID_GOLDEN)) {
    if (entry.path().extension() != ".safetensors") continue;
    CAPTURE(entry.path().filename().string());
    auto c = readCase(entry.path().string());
    if (!c.ok()) FAIL(c.diag().text());
    auto all = compareOutputs(c->expected, computed(c->call), limitsFor(c->call));
    if (!all.ok()) FAIL(all.diag().text());
    CHECK(all->size() == outputTypes(c->call).size());
    for (const OutputComparison& o : *all) {
      CAPTURE(o.name);
      CHECK(o.ok);
      CHECK(o.rel_error <= 1e-4);  // both are rounded from wider sums: far inside the limits
    }
    ++files;
  }
  CHECK(files >= 30);
}

TEST_CASE("sparse_decode: rows that are not selected have no influence, whatever their bytes are") {
  TensorFile f = decodeFile(true);
  f.tensors["indices"] = tensorOf<int32_t>(DType::kI32, {2, 1, 8}, {-1, 3, 5, -1, 3, 0, 15, -1, 2, -1, 4, 99, 99, 99, 99, 99});
  const TensorMap clean = computed(decodeCase(f));
  CHECK_FALSE(hasNan(clean.at("out")));
  for (const char* name : {"k_cache", "extra_k_cache"}) {
    const bool extra = name[0] == 'e';
    Tensor pool = copyOf(f.tensors[name]);
    const Tensor& indices = f.tensors[extra ? "extra_indices" : "indices"];
    const Tensor& lengths = f.tensors[extra ? "extra_topk_length" : "topk_length"];
    const int64_t topk = indices.dim(2);
    for (int token = 0; token < 16; ++token) {
      bool used = false;
      for (int64_t i = 0; i < indices.elements(); ++i)
        used |= i % topk < lengths.as<int32_t>()[i / topk] && indexAt(indices, i) == token;
      if (used) continue;
      std::memset(pool.data() + token / 4 * 2880 + token % 4 * 576, 0x7F, 576);
      std::memset(pool.data() + token / 4 * 2880 + 4 * 576 + token % 4 * 8, 0xFF, 8);
    }
    f.tensors[name] = pool;
  }
  CHECK(sameBits(computed(decodeCase(f)), clean));
}

TEST_CASE("sparse_decode: lanes past the length are not read, lengths are clamped, indices past the pool are no tokens") {
  TensorFile f = decodeFile();
  f.tensors["indices"] = tensorOf<int32_t>(DType::kI32, {2, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, -1, -1, -1, -1});
  const TensorMap tame = computed(decodeCase(f));
  f.tensors["indices"] =
      tensorOf<int32_t>(DType::kI32, {2, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, INT32_MAX, INT32_MIN, 16, -2});
  f.tensors["topk_length"] = tensorOf<int32_t>(DType::kI32, {2}, {INT32_MAX, 3});
  CHECK(sameBits(computed(decodeCase(f)), tame));
  f.tensors["topk_length"] = tensorOf<int32_t>(DType::kI32, {2}, {8, 8});
  CHECK_FALSE(sameBits(computed(decodeCase(f)), tame));  // token 0 of lane 3 counts now; the others are none
  f.tensors["indices"] =
      tensorOf<int64_t>(DType::kI64, {2, 1, 8},
                        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, int64_t{1} << 32, (int64_t{1} << 32) + 1, INT64_MAX, INT64_MIN, 16});
  CHECK(sameBits(computed(decodeCase(f)), tame));
}

TEST_CASE("sparse_decode: empty rows give 0 and the convention's value") {
  TensorFile f = decodeFile();
  f.tensors["topk_length"] = tensorOf<int32_t>(DType::kI32, {2}, {-3, 8});
  for (const char* empty : {"-inf", "+inf"}) {
    f.metadata["lse_empty"] = empty;
    const TensorMap r = computed(decodeCase(f));
    for (int i = 0; i < 4 * 512; ++i) CHECK(r.at("out").as<uint16_t>()[i] == 0);
    for (int h = 0; h < 4; ++h) {
      CHECK(r.at("lse").as<float>()[h] == (empty[0] == '+' ? kInf : -kInf));
      CHECK(std::isfinite(r.at("lse").as<float>()[4 + h]));
    }
  }
}

TEST_CASE("sparse_decode: sinks and the conventions of lse") {
  TensorFile f = decodeFile();
  f.tensors["attn_sink"] = tensorOf<float>(DType::kF32, {4}, {-kInf, kInf, 80.0f, 0.5f});
  const TensorMap r = computed(decodeCase(f));
  TensorFile none = f;
  none.tensors.erase("attn_sink");
  const TensorMap bare = computed(decodeCase(none));
  CHECK(std::memcmp(r.at("out").data(), bare.at("out").data(), 1024) == 0);  // a sink of -inf is none
  for (int k = 0; k < 512; ++k) CHECK(r.at("out").as<uint16_t>()[512 + k] == 0);
  CHECK(std::memcmp(r.at("lse").data(), bare.at("lse").data(), 8 * 4) == 0);  // without the sink by default
  const float* natural = bare.at("lse").as<float>();
  f.metadata["lse_sink"] = "1";
  f.metadata["lse_base"] = "2";
  const TensorMap other = computed(decodeCase(f));
  const float* got = other.at("lse").as<float>();
  CHECK(got[0] == doctest::Approx(natural[0] / std::log(2.0)));
  CHECK(got[1] == kInf);
  CHECK(got[2] == doctest::Approx((80 + std::log1p(std::exp(natural[2] - 80))) / std::log(2.0)));
  CHECK(got[3] == doctest::Approx(std::log2(std::exp(natural[3]) + std::exp(0.5))));
}

TEST_CASE("sparse_decode: a repeated index counts each time, and a NaN of a selected row stays in the rows that select it") {
  TensorFile f = decodeFile();
  f.tensors.erase("topk_length");
  f.tensors.erase("attn_sink");
  f.tensors["indices"] = tensorOf<int32_t>(DType::kI32, {2, 1, 8}, {5, 5, 5, 5, -1, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1, -1});
  const TensorMap r = computed(decodeCase(f));
  CHECK(r.at("lse").as<float>()[4] < 1e30f);
  TensorFile once = f;
  once.tensors["q"] = copyOf(f.tensors["q"]);
  std::memcpy(once.tensors["q"].data() + 4096, f.tensors["q"].data(), 4096);  // both rows ask the same
  const TensorMap same = computed(decodeCase(once));
  for (int h = 0; h < 4; ++h)
    CHECK(same.at("lse").as<float>()[h] == doctest::Approx(same.at("lse").as<float>()[4 + h] + std::log(4.0)));

  f.tensors["indices"] = tensorOf<int32_t>(DType::kI32, {2, 1, 8}, {5, 6, 7, 5, 6, 7, 5, 6, 1, 2, 3, 1, 2, 3, 1, 2});
  f.tensors["k_cache"] = copyOf(f.tensors["k_cache"]);
  f.tensors["k_cache"].as<uint8_t>()[2880 + 576 + 130] = 0xFF;  // token 5, column 130
  const TensorMap poisoned = computed(decodeCase(f));
  CHECK(std::isnan(poisoned.at("lse").as<float>()[0]));
  CHECK(std::isnan(decodeBF16(poisoned.at("out").as<uint16_t>()[0])));
  CHECK(std::isfinite(poisoned.at("lse").as<float>()[4]));
  CHECK_FALSE(std::isnan(decodeBF16(poisoned.at("out").as<uint16_t>()[4 * 512])));
}

TEST_CASE("combine: parts of a row merge to the whole, with sink and all conventions") {
  // Three parts by hand: two sources of one and no tokens and a third; their sums are known.
  CombineCase c;
  auto p = CombineProblem::parse({{"heads", "2"}, {"splits", "3"}, {"head_dim_v", "4"}, {"sink", "1"}});
  REQUIRE(p.ok());
  c.problem = *p;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  c.part_out = tensorOf<float>(DType::kF32, {1, 1, 2, 3, 4}, {1, 2, 3, 4, nan, nan, nan, nan, 5, 6, 7, 8,  //
                                                              1, 1, 1, 1, 1,   1,   1,   1,   1, 1, 1, 1});
  c.part_lse = tensorOf<float>(DType::kF32, {1, 1, 2, 3}, {1.0f, -kInf, 2.0f, -kInf, -kInf, -kInf});
  c.sink = tensorOf<float>(DType::kF32, {2}, {0.5f, 3.0f});
  const TensorMap r = computed(c);
  const double a = std::exp(1.0), b = std::exp(2.0), s = std::exp(0.5);
  for (int k = 0; k < 4; ++k) CHECK(r.at("out").as<uint16_t>()[k] == encodeBF16((a * (1 + k) + b * (5 + k)) / (a + b + s)));
  for (int k = 4; k < 8; ++k) CHECK(r.at("out").as<uint16_t>()[k] == 0);
  CHECK(r.at("lse").as<float>()[0] == doctest::Approx(std::log(a + b)));
  CHECK(r.at("lse").as<float>()[1] == -kInf);
  c.problem.lse = {LseBase::k2, true, LseEmpty::kPlusInf};
  const TensorMap other = computed(c);
  CHECK(other.at("lse").as<float>()[0] == doctest::Approx(std::log2(a + b + s)));
  CHECK(other.at("lse").as<float>()[1] == kInf);
}

TEST_CASE("sparse_decode in two parts and combine give the whole row") {
  TensorFile f = decodeFile();
  const DecodeCase whole = decodeCase(f);
  const int64_t rows = 2, heads = 4, dv = 512;
  CombineCase c;
  auto p = CombineProblem::parse({{"heads", "4"}, {"splits", "2"}, {"sink", "1"}});
  REQUIRE(p.ok());
  c.problem = *p;
  c.part_out = zeros(DType::kF32, {rows, 1, heads, 2, dv});
  c.part_lse = zeros(DType::kF32, {rows, 1, heads, 2});
  c.sink = f.tensors["attn_sink"];
  for (int part = 0; part < 2; ++part) {
    TensorFile half = f;
    half.tensors.erase("attn_sink");
    Tensor indices = copyOf(f.tensors["indices"]);
    for (int i = 0; i < 16; ++i)
      if ((i % 8 < 4) == (part == 1)) indices.as<int32_t>()[i] = -1;
    half.tensors["indices"] = indices;
    const TensorMap r = computed(decodeCase(half));
    for (int64_t i = 0; i < rows * heads; ++i) {
      c.part_lse.as<float>()[i * 2 + part] = r.at("lse").as<float>()[i];
      for (int64_t k = 0; k < dv; ++k)
        c.part_out.as<float>()[(i * 2 + part) * dv + k] = decodeBF16(r.at("out").as<uint16_t>()[i * dv + k]);
    }
  }
  auto all = compareOutputs(computed(whole), computed(c), {});
  REQUIRE(all.ok());
  for (const OutputComparison& o : *all) CHECK(o.ok);
}

TEST_CASE("pack_kv then gather_dequant: within half a step of e4m3, bf16 columns exact, other bytes unchanged") {
  std::mt19937 g(11);
  for (const char* name : {"MODEL1", "V32", "BF16"})
    for (const char* pow2 : {"0", "1"}) {
      CAPTURE(std::string(name));
      const KvLayout& layout = **findLayout(name);
      auto p = PackKvProblem::parse({{"layout", name}, {"page_size", "3"}, {"pow2", pow2}});
      REQUIRE(p.ok());
      const int64_t stride = pageBytes(layout, 3) + 16, d = layout.d();
      PackCase c{.problem = *p,
                 .kv = randomBF16(g, {4, d}, 0.7f),
                 .slots = tensorOf<int32_t>(DType::kI32, {4}, {5, -1, 0, 6}),
                 .cache_before = {randomBytes(g, {2, stride})}};
      const Tensor cache = computed(c).at("cache");

      DequantCase back;
      back.problem = {.layout = &layout, .page_size = 3};
      back.cache = {cache};
      back.indices = tensorOf<int32_t>(DType::kI32, {3}, {5, 0, -1});
      const Tensor kv = computed(back).at("kv");
      for (int row = 0; row < 2; ++row)
        for (const Cell& cell : cells(layout)) {
          const TokenRows rows(layout, 3, back.cache);
          const float scale = rows.scaleOf(row ? 0 : 5, cell);
          for (int k = cell.col; k < cell.col + cell.cols; ++k) {
            const float want = decodeBF16(c.kv.as<uint16_t>()[(row ? 2 : 0) * d + k]),
                        got = decodeBF16(kv.as<uint16_t>()[row * d + k]);
            if (!cell.scale)
              CHECK(want == got);
            else  // half a step of 2^-3 relative, half of the smallest step absolute, and the rounding to bf16
              CHECK(std::fabs(want - got) <= std::fabs(want) * (1.0f / 16 + 1.0f / 128) + scale / 1024);
          }
        }
      for (int64_t k = 0; k < d; ++k) CHECK(kv.as<uint16_t>()[2 * d + k] == 0);

      // Bytes that belong to slots 5 and 0: rows and scales, without pads.
      std::vector<bool> written(size_t(2 * stride));
      const TokenRows rows(layout, 3, c.cache_before);
      for (int64_t slot : {5, 0})
        for (const Cell& cell : cells(layout)) {
          for (int i = 0; i < cell.cols * elemBytes(cell.elem); ++i) written[size_t(rows.rowOffset(slot) + cell.byte + i)] = true;
          for (int i = 0; cell.scale && i < scaleBytes(*cell.scale); ++i)
            written[size_t(rows.scaleOffset(slot, cell) + i)] = true;
        }
      int64_t changed = 0;
      for (int64_t i = 0; i < 2 * stride; ++i)
        if (!written[size_t(i)]) changed += cache.as<uint8_t>()[i] != c.cache_before.bytes.as<uint8_t>()[i];
      CHECK(changed == 0);
    }
}

TEST_CASE("pack_kv: the scale of a tile") {
  auto scaleOf = [](const char* name, const char* pow2, float amax) {
    const KvLayout& layout = **findLayout(name);
    auto p = PackKvProblem::parse({{"layout", name}, {"page_size", "1"}, {"pow2", pow2}});
    REQUIRE(p.ok());
    PackCase c{.problem = *p, .kv = zeros(DType::kBF16, {1, layout.d()}), .slots = tensorOf<int64_t>(DType::kI64, {1}, {0})};
    c.cache_before.bytes = zeros(DType::kU8, {1, pageBytes(layout, 1)});
    c.kv.as<uint16_t>()[3] = encodeBF16(-amax);
    const Pool cache{computed(c).at("cache")};
    return TokenRows(layout, 1, cache).scaleOf(0, cells(layout)[0]);
  };
  CHECK(scaleOf("MODEL1", "0", 448.0f) == 1.0f);
  CHECK(scaleOf("MODEL1", "0", 449.9f) == 2.0f);
  CHECK(scaleOf("MODEL1", "0", 224.0f) == 0.5f);
  CHECK(scaleOf("MODEL1", "0", 0.0f) == std::ldexp(1.0f, -13));  // 1e-4 rounded up
  CHECK(scaleOf("V32", "1", 449.9f) == 2.0f);
  CHECK(scaleOf("V32", "0", 448.0f) == 1.0f);
  CHECK(scaleOf("V32", "0", 3.0f) == 3.0f / 448.0f);
  CHECK(scaleOf("V32", "0", 0.0f) == 1e-4f / 448.0f);
}

TEST_CASE("page_mark: negative indices, indices past the pool, lengths, an empty list") {
  MarkCase c;
  c.problem = {.page_size = 3, .index = IndexType::kI64};
  c.pages = 4;
  c.indices = tensorOf<int64_t>(DType::kI64, {2, 3}, {0, 12, -1, 11, int64_t{1} << 32, 4});
  auto mask = [&] {
    const Tensor t = computed(c).at("mask");
    return std::vector<int>(t.as<int8_t>(), t.as<int8_t>() + 4);
  };
  CHECK(mask() == std::vector<int>{1, 1, 0, 1});
  c.problem.lengths = true;
  c.lengths = tensorOf<int32_t>(DType::kI32, {2}, {-1, 1});
  CHECK(mask() == std::vector<int>{0, 0, 0, 1});
  c.lengths = tensorOf<int32_t>(DType::kI32, {2}, {99, 3});
  CHECK(mask() == std::vector<int>{1, 1, 0, 1});
  c.lengths.reset();
  c.indices = zeros(DType::kI64, {0});
  CHECK(mask() == std::vector<int>{0, 0, 0, 0});
}

TEST_CASE("page_split: rows and footers of marked pages, the rest of the destination keeps its fill") {
  std::mt19937 g(13);
  for (const char* name : {"MODEL1", "V32"}) {
    CAPTURE(std::string(name));
    const KvLayout& layout = **findLayout(name);
    auto p = PageSplitProblem::parse({{"layout", name}, {"page_size", "6"}, {"dst_page_size", "2"}, {"marks", "1"}});
    REQUIRE(p.ok());
    SplitCase c{.problem = *p,
                .src = {randomBytes(g, {3, pageBytes(layout, 6) + 8})},
                .dst_page_bytes = pageBytes(layout, 2) + 24,
                .fill = 0xCD};
    c.mark = MarkCase{.problem = {.page_size = 6}, .indices = tensorOf<int32_t>(DType::kI32, {2}, {7, -1}), .pages = 3};
    const TensorMap r = computed(c);
    CHECK(r.at("mask").as<int8_t>()[0] == 0);
    CHECK(r.at("mask").as<int8_t>()[1] == 1);
    const Pool dst{r.at("dst")};
    REQUIRE(dst.pages() == 9);
    const TokenRows from(layout, 6, c.src), to(layout, 2, dst);
    for (int64_t token = 6; token < 12; ++token) {
      CHECK(std::memcmp(dst.bytes.data() + to.rowOffset(token), c.src.bytes.data() + from.rowOffset(token),
                        size_t(layout.row_bytes)) == 0);
      CHECK(std::memcmp(dst.bytes.data() + to.footerOffsetOf(token), c.src.bytes.data() + from.footerOffsetOf(token),
                        size_t(layout.footer_bytes)) == 0);
    }
    const auto* bytes = dst.bytes.as<uint8_t>();
    int64_t other = 0;
    for (int64_t page = 0; page < 9; ++page)
      for (int64_t i = 0; i < dst.stride(); ++i)
        if (page / 3 != 1 || i >= 2 * layout.tokenBytes()) other += bytes[page * dst.stride() + i] != 0xCD;
    CHECK(other == 0);
  }
}
