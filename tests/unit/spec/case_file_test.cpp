// Case files: each golden file parses, defaults, forms of q and indices, and each tensor, key and combination that is refused.
#include "kernels_dsl/spec/case_file.h"

#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/spec/cases.h"
#include "tests/unit/spec/scratch_folder.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

Case parsed(const TensorFile& file) {
  auto r = parseCase(file);
  if (!r.ok()) FAIL(r.diag().text());
  return *r;
}

const DecodeCase& decodeOf(const Case& c) { return std::get<DecodeCase>(c.call); }

using Words = std::vector<std::string>;

void refused(const TensorFile& file, const Words& words) {
  auto r = parseCase(file);
  REQUIRE_FALSE(r.ok());
  CAPTURE(r.diag().text());
  CHECK(r.diag().code == Code::kInput);
  CHECK(r.diag().where.find("memory.safetensors") != std::string::npos);
  CHECK_FALSE(r.diag().fix.empty());
  for (const std::string& w : words) CHECK(r.diag().text().find(w) != std::string::npos);
}

Tensor otherType(const Tensor& t, DType dtype) { return zeros(dtype, t.shape()); }

TensorFile packFile() {
  std::mt19937 g(3);
  TensorFile f{.path = "memory.safetensors"};
  f.metadata = {{"kind", "pack"}, {"layout", "V32"}, {"page_size", "4"}, {"pow2", "0"}};
  f.tensors["kv"] = randomBF16(g, {3, 576});
  f.tensors["slots"] = tensorOf<int32_t>(DType::kI32, {3}, {7, -1, 2});
  f.tensors["cache_before"] = randomBytes(g, {2, 4 * 656});
  return f;
}

TensorFile splitFile() {
  std::mt19937 g(4);
  TensorFile f{.path = "memory.safetensors"};
  f.metadata = {{"kind", "split"},       {"layout", "MODEL1"},        {"page_size", "128"},
                {"dst_page_size", "64"}, {"dst_page_bytes", "37440"}, {"fill", "0xCD"}};
  f.tensors["src"] = randomBytes(g, {2, 74880});
  f.tensors["indices"] = tensorOf<int32_t>(DType::kI32, {1, 1, 2}, {130, -1});
  return f;
}

TensorFile markFile() {
  TensorFile f{.path = "memory.safetensors"};
  f.metadata = {{"kind", "mark"}, {"page_size", "3"}, {"pages", "5"}};
  f.tensors["indices"] = tensorOf<int64_t>(DType::kI64, {2, 2}, {0, 14, 15, -1});
  return f;
}

TensorFile combineFile() {
  TensorFile f{.path = "memory.safetensors"};
  f.metadata = {{"kind", "combine"}};
  f.tensors["part_out"] = zeros(DType::kF32, {2, 1, 3, 4, 100});
  f.tensors["part_lse"] = zeros(DType::kF32, {2, 1, 3, 4});
  return f;
}

TensorFile dequantFile() {
  std::mt19937 g(5);
  TensorFile f{.path = "memory.safetensors"};
  f.metadata = {{"kind", "dequant"}, {"layout", "V32"}, {"page_size", "4"}};
  f.tensors["k_cache"] = randomBytes(g, {2, 4 * 656});
  f.tensors["indices"] = tensorOf<int32_t>(DType::kI32, {3}, {7, 0, 2});
  return f;
}

}  // namespace

TEST_CASE("every golden file parses, with the expected tensors of its kind") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NEREID_GOLDEN)) {
    if (entry.path().extension() != ".safetensors") continue;
    CAPTURE(entry.path().filename().string());
    auto r = readCase(entry.path().string());
    if (!r.ok()) FAIL(r.diag().text());
    CHECK(r->expected.size() == outputTypes(r->call).size());
    ++files;
  }
  CHECK(files >= 30);
}

TEST_CASE("decode: what the file says becomes the problem") {
  const Case c = parsed(decodeFile(true));
  const DecodeCase& d = decodeOf(c);
  CHECK(d.problem.source.layout->name == "MODEL1");
  CHECK(d.problem.source.page_size == 4);
  CHECK(d.problem.source.topk == 8);
  CHECK(d.problem.source.lengths);
  CHECK(d.problem.extra.topk == 5);
  CHECK(d.problem.extra.page_size == 4);
  CHECK(d.problem.heads == 4);
  CHECK(d.problem.sink);
  CHECK(d.problem.rows == 2);
  CHECK(d.softmax_scale == 1.0 / std::sqrt(512.0));
  CHECK(c.expected.empty());
  CHECK(outputTypes(c.call).at("out") == TensorType{DType::kBF16, {2, 1, 4, 512}});
  CHECK(outputTypes(c.call).at("lse") == TensorType{DType::kF32, {2, 4, 1}});
}

TEST_CASE("decode: the default scale is of q as given, before slicing; int64; conventions; a second source of another width") {
  TensorFile f = decodeFile(true);
  std::mt19937 g(1);
  f.tensors["q"] = randomBF16(g, {2, 1, 4, 576});
  f.tensors["extra_indices"] = otherType(f.tensors["extra_indices"], DType::kI64);
  f.metadata["lse_base"] = "2";
  f.metadata["lse_sink"] = "1";
  f.metadata["lse_empty"] = "+inf";
  f.metadata["batch_invariant"] = "1";
  f.metadata["arith"] = "bf16";
  f.metadata["head_dim_v"] = "448";
  f.metadata["made_by"] = "something else";
  const Case c = parsed(f);
  const DecodeCase& d = decodeOf(c);
  CHECK(d.softmax_scale == 1.0 / std::sqrt(576.0));
  CHECK(d.problem.d_qk == 576);
  CHECK(d.problem.source.index == IndexType::kI32);
  CHECK(d.problem.extra.index == IndexType::kI64);
  CHECK(d.problem.lse == LseConvention{LseBase::k2, true, LseEmpty::kPlusInf});
  CHECK(d.problem.batch_invariant);
  CHECK(d.problem.arith == Arith::kBF16);
  CHECK(d.problem.head_dim_v == 448);
  f.metadata["softmax_scale"] = "0.25";
  CHECK(decodeOf(parsed(f)).softmax_scale == 0.25);
}

TEST_CASE("decode: q of three dimensions, indices of two, expected tensors without the query dimension") {
  TensorFile f = decodeFile();
  f.tensors["q"] = f.tensors["q"].reshaped({2, 4, 512});
  f.tensors["indices"] = f.tensors["indices"].reshaped({2, 8});
  f.tensors["out"] = zeros(DType::kBF16, {2, 4, 512});
  f.tensors["lse"] = zeros(DType::kF32, {2, 4});
  const Case c = parsed(f);
  CHECK(decodeOf(c).q.shape() == Shape{2, 1, 4, 512});
  CHECK(decodeOf(c).source.indices.shape() == Shape{2, 1, 8});
  CHECK(c.expected.at("out").shape() == Shape{2, 1, 4, 512});
  CHECK(c.expected.at("lse").shape() == Shape{2, 4, 1});
}

TEST_CASE("decode: a gap between pages, fp8 bytes, zero rows, an empty pool") {
  TensorFile f = decodeFile();
  f.tensors["k_cache"] = zeros(DType::kF8E4M3, {4, 5 * 576 + 24});
  CHECK(decodeOf(parsed(f)).source.cache.stride() == 5 * 576 + 24);
  f.tensors["k_cache"] = zeros(DType::kU8, {4, 4 * 584});  // without the padding at the page's end
  CHECK(decodeOf(parsed(f)).source.cache.stride() == 4 * 584);
  f.tensors["k_cache"] = zeros(DType::kU8, {0, 5 * 576});
  CHECK(decodeOf(parsed(f)).source.cache.pages() == 0);
  f.tensors["q"] = zeros(DType::kBF16, {0, 1, 4, 512});
  f.tensors["indices"] = zeros(DType::kI32, {0, 1, 8});
  f.tensors["topk_length"] = zeros(DType::kI32, {0});
  CHECK(decodeOf(parsed(f)).rows() == 0);
}

TEST_CASE("decode: tensors that are refused") {
  using Edit = std::function<void(TensorMap&)>;
  auto without = [](const char* name) -> Edit { return [name](TensorMap& t) { t.erase(name); }; };
  auto typed = [](const char* name, DType dtype) -> Edit { return [=](TensorMap& t) { t[name] = otherType(t[name], dtype); }; };
  auto shaped = [](const char* name, Shape shape) -> Edit {
    return [=](TensorMap& t) { t[name] = zeros(t[name].dtype(), shape); };
  };
  const std::tuple<Edit, Words, bool> cases[] = {
      {without("q"), {"q", "missing"}, false},
      {without("k_cache"), {"k_cache", "missing"}, false},
      {without("indices"), {"indices", "missing"}, false},
      {without("extra_indices"), {"extra_k_cache", "extra_indices"}, true},
      {without("extra_k_cache"), {"extra_indices", "extra_k_cache"}, true},
      {[](TensorMap& t) { t["extra_topk_length"] = t["topk_length"]; }, {"extra_topk_length", "extra_k_cache"}, false},
      {typed("q", DType::kF32), {"q", "F32", "BF16"}, false},
      {typed("k_cache", DType::kI8), {"k_cache", "I8", "U8"}, false},
      {typed("indices", DType::kF32), {"indices", "F32", "I32 or I64"}, false},
      {typed("topk_length", DType::kI64), {"topk_length", "I64", "I32"}, false},
      {typed("attn_sink", DType::kBF16), {"attn_sink", "BF16", "F32"}, false},
      {typed("extra_k_cache", DType::kF32), {"extra_k_cache", "U8"}, true},
      {shaped("q", {8, 512}), {"q", "[8, 512]"}, false},
      {shaped("q", {1, 2, 1, 4, 512}), {"q"}, false},
      {shaped("q", {2, 1, 0, 512}), {"q", "head"}, false},
      {shaped("q", {2, 0, 4, 512}), {"q", "query"}, false},
      {shaped("q", {2, 1, 4, 256}), {"q", "256", "512"}, false},
      {shaped("k_cache", {16}), {"k_cache", "[16]"}, false},
      {shaped("k_cache", {4, 1000}), {"k_cache", "page", "1000", "2336"}, false},
      {shaped("k_cache", {4, 2335}), {"k_cache", "2336"}, false},
      {shaped("k_cache", {4, 0}), {"k_cache"}, false},
      {shaped("indices", {1, 1, 8}), {"indices", "[1, 1, 8]", "[2, 1, 8]"}, false},
      {shaped("indices", {2, 2, 8}), {"indices"}, false},
      {shaped("indices", {2, 1, 0}), {"indices", "top-k"}, false},
      {shaped("indices", {16}), {"indices"}, false},
      {shaped("topk_length", {1}), {"topk_length", "[1]", "[2]"}, false},
      {shaped("topk_length", {2, 1}), {"topk_length"}, false},
      {shaped("attn_sink", {3}), {"attn_sink", "[3]", "[4]"}, false},
      {shaped("extra_indices", {2, 1, 0}), {"extra_indices", "top-k"}, true},
      {shaped("extra_topk_length", {3}), {"extra_topk_length"}, true},
      {shaped("extra_k_cache", {4, 100}), {"extra_k_cache", "page"}, true},
      {[](TensorMap& t) { t["topk_lengths"] = t["topk_length"]; }, {"topk_lengths", "unknown", "topk_length"}, false},
      {[](TensorMap& t) { t["out"] = zeros(DType::kBF16, {2, 1, 2, 512}); }, {"out", "[2, 1, 2, 512]", "[2, 1, 4, 512]"}, false},
      {[](TensorMap& t) { t["out"] = zeros(DType::kF32, {2, 1, 4, 512}); }, {"out", "F32", "BF16"}, false},
      {[](TensorMap& t) { t["lse"] = zeros(DType::kF32, {2, 1, 4}); }, {"lse"}, false},
  };
  for (const auto& [edit, words, extra] : cases) {
    TensorFile f = decodeFile(extra);
    edit(f.tensors);
    CAPTURE(words.front());
    refused(f, words);
  }
}

TEST_CASE("decode: metadata that are refused") {
  const std::tuple<const char*, const char*, Words, bool> cases[] = {
      {"kind", "encode", {"kind", "encode", "decode"}, false},
      {"kind", nullptr, {"kind", "missing", "decode"}, false},
      {"layout", "MODEL9", {"layout", "MODEL9", "MODEL1"}, false},
      {"layout", nullptr, {"layout", "missing", "MODEL1"}, false},
      {"page_size", "0", {"page_size"}, false},
      {"page_size", "-4", {"page_size", "-4"}, false},
      {"page_size", "many", {"page_size", "many"}, false},
      {"page_size", "4x", {"page_size", "4x"}, false},
      {"page_size", "", {"page_size"}, false},
      {"page_size", "4611686018427387904", {"page_size"}, false},
      {"page_size", nullptr, {"page_size", "missing"}, false},
      {"page_size", "5", {"k_cache", "page", "2920"}, false},
      {"extra_page_size", "0", {"extra_page_size"}, true},
      {"extra_page_size", nullptr, {"extra_page_size", "missing"}, true},
      {"extra_layout", "MODEL9", {"extra_layout", "MODEL9"}, true},
      {"extra_layout", "V32", {"extra_layout", "V32", "576"}, true},
      {"head_dim_v", "0", {"head_dim_v"}, false},
      {"head_dim_v", "513", {"head_dim_v", "512"}, false},
      {"head_dim_v", "wide", {"head_dim_v", "wide"}, false},
      {"softmax_scale", "soft", {"softmax_scale", "soft"}, false},
      {"softmax_scale", "nan", {"softmax_scale", "finite"}, false},
      {"softmax_scale", "inf", {"softmax_scale"}, false},
      {"softmax_scale", "", {"softmax_scale"}, false},
      {"softmax_scale", "1.0x", {"softmax_scale"}, false},
      {"lse_base", "10", {"lse_base", "10"}, false},
      {"lse_sink", "2", {"lse_sink"}, false},
      {"lse_empty", "0", {"lse_empty"}, false},
      {"batch_invariant", "yes", {"batch_invariant"}, false},
      {"arith", "f64", {"arith", "f64"}, false},
  };
  for (const auto& [key, value, words, extra] : cases) {
    TensorFile f = decodeFile(extra);
    if (value)
      f.metadata[key] = value;
    else
      f.metadata.erase(key);
    CAPTURE(std::string(key));
    refused(f, words);
  }
}

TEST_CASE("the other kinds parse") {
  const Case pack = parsed(packFile());
  CHECK(std::get<PackCase>(pack.call).problem.layout->name == "V32");
  CHECK_FALSE(std::get<PackCase>(pack.call).problem.pow2);
  CHECK(outputTypes(pack.call).at("cache") == TensorType{DType::kU8, {2, 4 * 656}});

  const Case split = parsed(splitFile());
  const SplitCase& s = std::get<SplitCase>(split.call);
  CHECK(s.problem.marks);
  CHECK(s.problem.ratio() == 2);
  CHECK(s.fill == 0xCD);
  REQUIRE(s.mark.has_value());
  CHECK(s.mark->pages == 2);
  CHECK(outputTypes(split.call).at("dst") == TensorType{DType::kU8, {4, 37440}});
  TensorFile plain = splitFile();
  plain.tensors.erase("indices");
  for (const char* key : {"dst_page_size", "dst_page_bytes", "fill"}) plain.metadata.erase(key);
  const Case all = parsed(plain);
  CHECK_FALSE(std::get<SplitCase>(all.call).problem.marks);
  CHECK(std::get<SplitCase>(all.call).dst_page_bytes == 37440);
  CHECK(std::get<SplitCase>(all.call).fill == 0);
  TensorFile same = splitFile();
  same.metadata["page_size"] = "64";
  CHECK(outputTypes(parsed(same).call).at("dst") == TensorType{DType::kU8, {2, 74880}});

  const Case mark = parsed(markFile());
  CHECK(std::get<MarkCase>(mark.call).problem.index == IndexType::kI64);
  CHECK_FALSE(std::get<MarkCase>(mark.call).problem.lengths);
  CHECK(outputTypes(mark.call).at("mask") == TensorType{DType::kI8, {5}});
  TensorFile lengths = markFile();
  lengths.tensors["topk_length"] = tensorOf<int32_t>(DType::kI32, {2}, {1, 2});
  CHECK(std::get<MarkCase>(parsed(lengths).call).problem.lengths);

  const Case combine = parsed(combineFile());
  CHECK(std::get<CombineCase>(combine.call).problem.splits == 4);
  CHECK(std::get<CombineCase>(combine.call).problem.head_dim_v == 100);
  CHECK(outputTypes(combine.call).at("lse") == TensorType{DType::kF32, {2, 3, 1}});

  const Case dequant = parsed(dequantFile());
  CHECK(outputTypes(dequant.call).at("kv") == TensorType{DType::kBF16, {3, 576}});
}

TEST_CASE("the other kinds: what is refused") {
  using Edit = std::function<void(TensorFile&)>;
  auto meta = [](const char* key, const char* value) -> Edit { return [=](TensorFile& f) { f.metadata[key] = value; }; };
  auto drop = [](const char* name) -> Edit { return [=](TensorFile& f) { f.tensors.erase(name), f.metadata.erase(name); }; };
  auto put = [](const char* name, DType dtype, Shape shape) -> Edit {
    return [=](TensorFile& f) { f.tensors[name] = zeros(dtype, shape); };
  };
  const std::tuple<TensorFile (*)(), Edit, Words> cases[] = {
      {packFile, drop("kv"), {"kv", "missing"}},
      {packFile, drop("slots"), {"slots", "missing"}},
      {packFile, drop("cache_before"), {"cache_before", "missing"}},
      {packFile, put("kv", DType::kBF16, {3, 512}), {"kv", "[3, 512]", "[3, 576]"}},
      {packFile, put("kv", DType::kF32, {3, 576}), {"kv", "BF16"}},
      {packFile, put("slots", DType::kI32, {4}), {"slots", "[4]", "[3]"}},
      {packFile, put("cache_before", DType::kU8, {2, 100}), {"cache_before", "2624"}},
      {packFile, put("cache", DType::kU8, {1, 2624}), {"cache", "[1, 2624]"}},
      {packFile, meta("pow2", "maybe"), {"pow2", "maybe"}},
      {packFile, meta("layout", "V33"), {"layout", "V33"}},
      {splitFile, drop("src"), {"src", "missing"}},
      {splitFile, drop("page_size"), {"page_size", "missing"}},
      {splitFile, meta("page_size", "100"), {"page_size", "100", "64"}},
      {splitFile, meta("dst_page_size", "0"), {"dst_page_size"}},
      {splitFile, meta("dst_page_bytes", "37375"), {"dst_page_bytes", "37376"}},
      {splitFile, meta("fill", "0x1CD"), {"fill", "0x1CD"}},
      {splitFile, meta("fill", "red"), {"fill", "red"}},
      {splitFile, meta("fill", "0x"), {"fill"}},
      {splitFile, put("src", DType::kU8, {2, 100}), {"src", "page stride"}},
      {splitFile, put("indices", DType::kF32, {2}), {"indices", "F32"}},
      {splitFile, put("mask", DType::kI8, {3}), {"mask", "[3]", "[2]"}},
      {splitFile,
       [](TensorFile& f) { f.tensors.erase("indices"), f.tensors["topk_length"] = zeros(DType::kI32, {1}); },
       {"topk_length", "indices"}},
      {markFile, drop("pages"), {"pages", "missing"}},
      {markFile, meta("pages", "-1"), {"pages", "-1"}},
      {markFile, meta("pages", "9223372036854775807"), {"pages"}},
      {markFile, drop("indices"), {"indices", "missing"}},
      {markFile, put("topk_length", DType::kI32, {3}), {"topk_length", "[3]", "[2]"}},
      {markFile,
       [](TensorFile& f) { f.tensors["indices"] = zeros(DType::kI32, {4}), f.tensors["topk_length"] = zeros(DType::kI32, {4}); },
       {"topk_length", "[4]"}},
      {combineFile, drop("part_out"), {"part_out", "missing"}},
      {combineFile, put("part_out", DType::kF32, {2, 3, 4, 100}), {"part_out"}},
      {combineFile, put("part_lse", DType::kF32, {2, 1, 3, 5}), {"part_lse", "[2, 1, 3, 5]", "[2, 1, 3, 4]"}},
      {combineFile, meta("head_dim_v", "99"), {"head_dim_v", "99", "100"}},
      {combineFile, put("attn_sink", DType::kF32, {4}), {"attn_sink"}},
      {combineFile, meta("lse_base", "x"), {"lse_base"}},
      {combineFile,
       [](TensorFile& f) {
         f.tensors["part_out"] = zeros(DType::kF32, {2, 1, 3, 0, 100}), f.tensors["part_lse"] = zeros(DType::kF32, {2, 1, 3, 0});
       },
       {"splits"}},
      {dequantFile, drop("k_cache"), {"k_cache", "missing"}},
      {dequantFile, drop("indices"), {"indices", "missing"}},
      {dequantFile, drop("layout"), {"layout", "missing"}},
      {dequantFile, meta("page_size", "1.5"), {"page_size", "1.5"}},
      {dequantFile, put("kv", DType::kBF16, {3, 512}), {"kv", "[3, 512]", "[3, 576]"}},
      {dequantFile, put("q", DType::kBF16, {3, 512}), {"q", "unknown"}},
  };
  for (const auto& [make, edit, words] : cases) {
    TensorFile f = make();
    edit(f);
    CAPTURE(f.metadata["kind"]);
    CAPTURE(words.front());
    refused(f, words);
  }
}

TEST_CASE("outputs before the call") {
  auto pack = initialOutputs(parsed(packFile()).call);
  REQUIRE(pack.ok());
  const TensorFile f = packFile();
  CHECK(std::memcmp(pack->at("cache").data(), f.tensors.at("cache_before").data(), 2 * 4 * 656) == 0);
  auto split = initialOutputs(parsed(splitFile()).call);
  REQUIRE(split.ok());
  CHECK(split->at("dst").as<uint8_t>()[0] == 0xCD);
  CHECK(split->at("dst").as<uint8_t>()[4 * 37440 - 1] == 0xCD);
  CHECK(split->at("mask").as<int8_t>()[0] == 0);
  auto decode = initialOutputs(parsed(decodeFile()).call);
  REQUIRE(decode.ok());
  CHECK(decode->at("out").bytes() == 2 * 4 * 512 * 2);
}

TEST_CASE("files with random damage to header and length are read or refused with a reason") {
  ScratchFolder folder;
  const std::string path = folder.file("damaged.safetensors");
  const TensorFile good = decodeFile(true);
  REQUIRE(writeTensorFile(path, good.tensors, good.metadata).ok());
  const std::string bytes = readBytes(path);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  std::mt19937 g(21);
  int refused_files = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string damaged = bytes;
    const int edits = 1 + int(g() % 4);
    for (int e = 0; e < edits; ++e) {
      const size_t at = g() % (header + 8);
      switch (g() % 4) {
        case 0: damaged[at] = char(g()); break;
        case 1: damaged[at] = "0123456789[]{},:\"-"[g() % 19]; break;
        case 2: damaged.erase(at, 1 + g() % 3); break;
        case 3: damaged.resize(damaged.size() - g() % (damaged.size() / 2)); break;
      }
    }
    auto r = readCase(writeBytes(path, damaged));
    if (r.ok()) continue;
    ++refused_files;
    CAPTURE(i);
    REQUIRE_FALSE(r.diag().what.empty());
    REQUIRE(r.diag().where.find(path) != std::string::npos);
    REQUIRE_FALSE(r.diag().fix.empty());
  }
  CHECK(refused_files > 700);
}

TEST_CASE("a broken file is an error of the reader") {
  ScratchFolder folder;
  auto r = readCase(writeBytes(folder.file("short.safetensors"), "abc"));
  REQUIRE_FALSE(r.ok());
  CHECK(r.diag().where.find("short.safetensors") != std::string::npos);
}
