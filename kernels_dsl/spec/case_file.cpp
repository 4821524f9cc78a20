// Each kind takes its tensors and metadata, has the problem's keys checked by the problem, and compares shapes with each other.
#include "kernels_dsl/spec/case_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <set>

namespace nereid::kernels {
namespace {

constexpr int64_t kMaxPages = int64_t{1} << 38;  // pages · page_size stays below 2^62
constexpr int64_t kMaxPageBytes = int64_t{1} << 40;

class CaseReader {
 public:
  explicit CaseReader(const TensorFile& file) : file_(file) {}

  // --- errors: always the file, and the tensor or the key
  Diag tensorError(const std::string& name, const std::string& what, const std::string& fix) const {
    return Diag{Code::kInput, fmt::format("tensor {} {}", name, what), file_.path, fix};
  }
  Diag metadataError(const std::string& key, const std::string& what, const std::string& fix) const {
    return Diag{Code::kInput, fmt::format("metadata {} {}", key, what), file_.path, fix};
  }
  // An error of the problem's keys, which come from metadata and shapes of this file.
  Diag problemError(const Diag& d) const { return Diag{Code::kInput, d.what, fmt::format("{}: {}", file_.path, d.where), d.fix}; }

  // --- tensors
  bool has(const std::string& name) const { return file_.tensors.count(name) != 0; }

  // `dims` says what the shape should be; the rank is one of `ranks`, any if there are none.
  Result<Tensor> take(const std::string& name, std::initializer_list<DType> dtypes, const char* dims,
                      std::initializer_list<int64_t> ranks) {
    known_.insert(name);
    const auto found = file_.tensors.find(name);
    std::string types;
    for (DType d : dtypes) types += (types.empty() ? "" : " or ") + std::string(dtypeName(d));
    if (found == file_.tensors.end()) return tensorError(name, "is missing", fmt::format("add it: {} of shape {}", types, dims));
    const Tensor& t = found->second;
    if (std::find(dtypes.begin(), dtypes.end(), t.dtype()) == dtypes.end())
      return tensorError(name, fmt::format("has dtype {}", dtypeName(t.dtype())), fmt::format("expected {}", types));
    if (ranks.size() && std::find(ranks.begin(), ranks.end(), t.rank()) == ranks.end())
      return tensorError(name, fmt::format("has shape {}", shapeText(t.shape())), fmt::format("expected {}", dims));
    return t;
  }
  Result<std::optional<Tensor>> takeOptional(const std::string& name, std::initializer_list<DType> dtypes, const char* dims,
                                             std::initializer_list<int64_t> ranks) {
    known_.insert(name);
    if (!has(name)) return std::optional<Tensor>();
    NEREID_TRY(Tensor t, take(name, dtypes, dims, ranks));
    return std::optional<Tensor>(std::move(t));
  }
  Status expectShape(const std::string& name, const Tensor& t, const Shape& shape, const char* dims) const {
    if (t.shape() == shape) return {};
    return tensorError(name, fmt::format("has shape {}", shapeText(t.shape())),
                       fmt::format("expected {} = {}", dims, shapeText(shape)));
  }
  // Tensors that nothing took: a misspelt optional input must not pass as absent.
  Status rejectUnknown() const {
    for (const auto& [name, tensor] : file_.tensors)
      if (!known_.count(name))
        return tensorError(name, "is unknown for this kind", fmt::format("this kind has {}", fmt::join(known_, ", ")));
    return {};
  }

  // --- metadata
  const std::string* find(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? nullptr : &found->second;
  }
  Result<std::string> need(const std::string& key, const std::string& accepted) const {
    if (const std::string* text = find(key)) return *text;
    return metadataError(key, "is missing", fmt::format("add it: {}", accepted));
  }
  Result<int64_t> integer(const std::string& key, int64_t low, int64_t high, std::optional<int64_t> otherwise = {}) const {
    const std::string accepted = fmt::format("an integer from {} to {}", low, high);
    if (!find(key) && otherwise) return *otherwise;
    NEREID_TRY(const std::string text, need(key, accepted));
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
      return metadataError(key, fmt::format("is '{}'", text), fmt::format("accepted: {}", accepted));
    return value;
  }
  Result<const KvLayout*> layout(const std::string& key, const KvLayout* otherwise = nullptr) const {
    if (!find(key) && otherwise) return otherwise;
    std::string known;
    for (const KvLayout& l : allLayouts()) known += (known.empty() ? "" : ", ") + l.name;
    NEREID_TRY(const std::string name, need(key, known));
    auto found = findLayout(name);
    if (!found.ok()) return metadataError(key, fmt::format("is '{}'", name), found.diag().fix);
    return *found;
  }
  void copy(ProblemFields& fields, std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (const std::string* text = find(key)) fields[key] = *text;
  }

  // --- parts that several kinds have
  // The rows of a page must fit into the stride; padding at a page's end may be cut off.
  Result<Pool> pool(const std::string& name, const KvLayout& layout, int64_t page_size) {
    NEREID_TRY(Tensor t, take(name, {DType::kU8, DType::kF8E4M3}, "[pages, page stride in bytes]", {2}));
    const int64_t least = page_size * layout.tokenBytes();
    if (t.dim(1) < least)
      return tensorError(name,
                         fmt::format("has a page stride of {} bytes, but a page of {} tokens of layout {} has {}", t.dim(1),
                                     page_size, layout.name, least),
                         fmt::format("pass [pages, page stride ≥ {}], or another page_size or layout", least));
    return Pool{std::move(t)};
  }
  Status rowLengths(const std::string& name, const std::optional<Tensor>& lengths, int64_t rows) const {
    return lengths ? expectShape(name, *lengths, {rows}, "[rows]") : Status();
  }

 private:
  const TensorFile& file_;
  std::set<std::string> known_;
};

const char* indexName(const Tensor& t) { return t.dtype() == DType::kI64 ? "i64" : "i32"; }

struct SourceShape {
  Tensor indices;
  std::optional<Tensor> lengths;
};

// indices [B, S, K], or [B, K] where there is one query a row, and lengths [B].
Result<SourceShape> takeIndices(CaseReader& r, const std::string& prefix, int64_t rows, int64_t s_q) {
  const std::string name = prefix + "indices", length_name = prefix + "topk_length";
  SourceShape s;
  NEREID_TRY(s.indices, r.take(name, {DType::kI32, DType::kI64}, "[rows, queries, top-k] or [rows, top-k]", {2, 3}));
  if (s.indices.rank() == 2 && s_q == 1) s.indices = s.indices.reshaped({s.indices.dim(0), 1, s.indices.dim(1)});
  const int64_t topk = s.indices.shape().back();
  if (topk < 1)
    return r.tensorError(name, fmt::format("has shape {}: a top-k of 0", shapeText(s.indices.shape())),
                         "pass at least one lane a row, for example -1");
  NEREID_CHECK_OK(r.expectShape(name, s.indices, {rows, s_q, topk}, "[rows, queries, top-k] with rows and queries of q"));
  NEREID_TRY(s.lengths, r.takeOptional(length_name, {DType::kI32}, "[rows]", {1}));
  NEREID_CHECK_OK(r.rowLengths(length_name, s.lengths, rows));
  return s;
}

Status checkSink(CaseReader& r, std::optional<Tensor>& sink, int64_t heads) {
  NEREID_TRY(sink, r.takeOptional("attn_sink", {DType::kF32}, "[heads]", {1}));
  return sink ? r.expectShape("attn_sink", *sink, {heads}, "[heads]") : Status();
}

Result<double> softmaxScale(const CaseReader& r, int64_t d_qk) {
  const std::string* text = r.find("softmax_scale");
  if (!text) return 1.0 / std::sqrt(double(d_qk));
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (text->empty() || *end || !std::isfinite(value))
    return r.metadataError("softmax_scale", fmt::format("is '{}'", *text), "accepted: a finite number");
  return value;
}

Result<Call> readDecode(CaseReader& r) {
  DecodeCase c;
  NEREID_TRY(c.q, r.take("q", {DType::kBF16}, "[rows, queries, heads, columns] or [rows, heads, columns]", {3, 4}));
  if (c.q.rank() == 3) c.q = c.q.reshaped({c.q.dim(0), 1, c.q.dim(1), c.q.dim(2)});
  const int64_t rows = c.q.dim(0), s_q = c.q.dim(1), heads = c.q.dim(2), d_qk = c.q.dim(3);
  if (s_q < 1 || heads < 1)
    return r.tensorError("q", fmt::format("has shape {}", shapeText(c.q.shape())), "pass at least one query and one head a row");
  NEREID_TRY(const KvLayout* layout, r.layout("layout"));
  if (d_qk < layout->d())
    return r.tensorError("q", fmt::format("has {} columns, but a row of layout {} has {}", d_qk, layout->name, layout->d()),
                         "pass a q that is at least as wide; columns past the row's are not read");
  NEREID_TRY(const int64_t page_size, r.integer("page_size", 1, kMaxPageSize));
  NEREID_TRY(SourceShape source, takeIndices(r, "", rows, s_q));
  NEREID_TRY(c.source.cache, r.pool("k_cache", *layout, page_size));
  c.source.indices = source.indices;
  c.source.lengths = source.lengths;
  NEREID_CHECK_OK(checkSink(r, c.sink, heads));

  ProblemFields fields = {{"layout", layout->name},
                          {"page_size", fmt::to_string(page_size)},
                          {"topk", fmt::to_string(source.indices.dim(2))},
                          {"heads", fmt::to_string(heads)},
                          {"d_qk", fmt::to_string(d_qk)},
                          {"s_q", fmt::to_string(s_q)},
                          {"index", indexName(source.indices)},
                          {"lengths", source.lengths ? "1" : "0"},
                          {"sink", c.sink ? "1" : "0"},
                          {"rows", fmt::to_string(rows)}};
  r.copy(fields, {"head_dim_v", "lse_base", "lse_sink", "lse_empty", "arith", "batch_invariant"});
  if (r.has("extra_k_cache")) {
    if (!r.has("extra_indices"))
      return r.tensorError("extra_k_cache", "is given without extra_indices", "add extra_indices, or leave the second cache out");
    NEREID_TRY(const KvLayout* extra_layout, r.layout("extra_layout", layout));
    NEREID_TRY(const int64_t extra_page_size, r.integer("extra_page_size", 1, kMaxPageSize));
    NEREID_TRY(SourceShape extra, takeIndices(r, "extra_", rows, s_q));
    NEREID_TRY(Pool pool, r.pool("extra_k_cache", *extra_layout, extra_page_size));
    c.extra = SourceTensors{std::move(pool), extra.indices, extra.lengths};
    fields["extra_layout"] = extra_layout->name;
    fields["extra_page_size"] = fmt::to_string(extra_page_size);
    fields["extra_topk"] = fmt::to_string(extra.indices.dim(2));
    fields["extra_index"] = indexName(extra.indices);
    fields["extra_lengths"] = extra.lengths ? "1" : "0";
  }
  for (const char* name : {"extra_indices", "extra_topk_length"})
    if (!c.extra && r.has(name))
      return r.tensorError(name, "is given without extra_k_cache", "add extra_k_cache, or leave the second source out");
  auto problem = SparseDecodeProblem::parse(fields);
  if (!problem.ok()) return r.problemError(problem.diag());
  c.problem = *problem;
  NEREID_TRY(c.softmax_scale, softmaxScale(r, d_qk));
  return Call(std::move(c));
}

Result<Call> readCombine(CaseReader& r) {
  CombineCase c;
  NEREID_TRY(c.part_out, r.take("part_out", {DType::kF32}, "[rows, queries, heads, splits, value columns]", {5}));
  NEREID_TRY(c.part_lse, r.take("part_lse", {DType::kF32}, "[rows, queries, heads, splits]", {4}));
  const Shape& s = c.part_out.shape();
  NEREID_CHECK_OK(r.expectShape("part_lse", c.part_lse, {s[0], s[1], s[2], s[3]}, "[rows, queries, heads, splits] of part_out"));
  NEREID_CHECK_OK(checkSink(r, c.sink, s[2]));
  NEREID_TRY(const int64_t head_dim_v, r.integer("head_dim_v", 1, kMaxHeadDim, s[4]));
  if (head_dim_v != s[4])
    return r.metadataError("head_dim_v", fmt::format("is {}, but part_out has {} value columns", head_dim_v, s[4]),
                           "leave it out or correct it");
  ProblemFields fields = {{"heads", fmt::to_string(s[2])},
                          {"head_dim_v", fmt::to_string(s[4])},
                          {"splits", fmt::to_string(s[3])},
                          {"s_q", fmt::to_string(s[1])},
                          {"sink", c.sink ? "1" : "0"}};
  r.copy(fields, {"lse_base", "lse_sink", "lse_empty"});
  auto problem = CombineProblem::parse(fields);
  if (!problem.ok()) return r.problemError(problem.diag());
  c.problem = *problem;
  return Call(std::move(c));
}

Result<Call> readDequant(CaseReader& r) {
  DequantCase c;
  NEREID_TRY(c.problem.layout, r.layout("layout"));
  NEREID_TRY(c.problem.page_size, r.integer("page_size", 1, kMaxPageSize));
  NEREID_TRY(c.cache, r.pool("k_cache", *c.problem.layout, c.problem.page_size));
  NEREID_TRY(c.indices, r.take("indices", {DType::kI32, DType::kI64}, "[…]", {}));
  c.problem.index = c.indices.dtype() == DType::kI64 ? IndexType::kI64 : IndexType::kI32;
  return Call(std::move(c));
}

Result<MarkCase> takeMark(CaseReader& r, int64_t page_size, int64_t pages) {
  MarkCase c;
  c.pages = pages;
  c.problem.page_size = page_size;
  NEREID_TRY(c.indices, r.take("indices", {DType::kI32, DType::kI64}, "[…]", {}));
  c.problem.index = c.indices.dtype() == DType::kI64 ? IndexType::kI64 : IndexType::kI32;
  NEREID_TRY(c.lengths, r.takeOptional("topk_length", {DType::kI32}, "[rows]", {1}));
  if (c.lengths && c.indices.rank() < 2)
    return r.tensorError("topk_length", fmt::format("is given, but indices have shape {}", shapeText(c.indices.shape())),
                         "pass indices of shape [rows, …, top-k]");
  if (c.lengths) NEREID_CHECK_OK(r.rowLengths("topk_length", c.lengths, c.indices.dim(0)));
  c.problem.lengths = c.lengths.has_value();
  return c;
}

Result<Call> readMark(CaseReader& r) {
  NEREID_TRY(const int64_t page_size, r.integer("page_size", 1, kMaxPageSize));
  NEREID_TRY(const int64_t pages, r.integer("pages", 0, kMaxPages));
  NEREID_TRY(MarkCase c, takeMark(r, page_size, pages));
  return Call(std::move(c));
}

Result<uint8_t> fillByte(const CaseReader& r) {
  const std::string* text = r.find("fill");
  if (!text) return uint8_t{0};
  std::string_view digits = *text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  uint8_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size())
    return r.metadataError("fill", fmt::format("is '{}'", *text), "accepted: a hexadecimal byte from 0x00 to 0xFF");
  return value;
}

Result<Call> readSplit(CaseReader& r) {
  SplitCase c;
  NEREID_TRY(const KvLayout* layout, r.layout("layout"));
  NEREID_TRY(const int64_t page_size, r.integer("page_size", 1, kMaxPageSize));
  NEREID_TRY(const int64_t dst_page_size, r.integer("dst_page_size", 1, kMaxPageSize, 64));
  NEREID_TRY(c.src, r.pool("src", *layout, page_size));
  ProblemFields fields = {
      {"layout", layout->name}, {"page_size", fmt::to_string(page_size)}, {"dst_page_size", fmt::to_string(dst_page_size)}};
  if (r.has("indices")) {
    NEREID_TRY(c.mark, takeMark(r, page_size, c.src.pages()));
    fields["marks"] = "1";
  } else if (r.has("topk_length")) {
    return r.tensorError("topk_length", "is given without indices", "add indices, or leave the lengths out");
  }
  auto problem = PageSplitProblem::parse(fields);
  if (!problem.ok()) return r.problemError(problem.diag());
  c.problem = *problem;
  NEREID_TRY(c.dst_page_bytes,
             r.integer("dst_page_bytes", dst_page_size * layout->tokenBytes(), kMaxPageBytes, pageBytes(*layout, dst_page_size)));
  NEREID_TRY(c.fill, fillByte(r));
  return Call(std::move(c));
}

Result<Call> readPack(CaseReader& r) {
  PackCase c;
  NEREID_TRY(const KvLayout* layout, r.layout("layout"));
  NEREID_TRY(const int64_t page_size, r.integer("page_size", 1, kMaxPageSize));
  NEREID_TRY(c.cache_before, r.pool("cache_before", *layout, page_size));
  NEREID_TRY(c.kv, r.take("kv", {DType::kBF16}, "[n, columns]", {2}));
  NEREID_CHECK_OK(r.expectShape("kv", c.kv, {c.kv.dim(0), layout->d()}, "[n, columns of the layout]"));
  NEREID_TRY(c.slots, r.take("slots", {DType::kI32, DType::kI64}, "[n]", {1}));
  NEREID_CHECK_OK(r.expectShape("slots", c.slots, {c.kv.dim(0)}, "[n] of kv"));
  ProblemFields fields = {{"layout", layout->name}, {"page_size", fmt::to_string(page_size)}, {"index", indexName(c.slots)}};
  r.copy(fields, {"pow2"});
  auto problem = PackKvProblem::parse(fields);
  if (!problem.ok()) return r.problemError(problem.diag());
  c.problem = *problem;
  return Call(std::move(c));
}

struct Kind {
  const char* name;
  Result<Call> (*read)(CaseReader&);
};

constexpr Kind kKinds[] = {{"decode", readDecode}, {"dequant", readDequant}, {"pack", readPack},
                           {"split", readSplit},   {"mark", readMark},       {"combine", readCombine}};

// An expected tensor may lack the dimension of queries where there is one query a row.
Shape withoutQueries(const std::string& name, Shape shape) {
  if (name == "out" && shape.size() == 4 && shape[1] == 1) shape.erase(shape.begin() + 1);
  if (name == "lse" && shape.size() == 3 && shape[2] == 1) shape.pop_back();
  return shape;
}

Status takeExpected(CaseReader& r, Case& c) {
  for (const auto& [name, type] : outputTypes(c.call)) {
    NEREID_TRY(std::optional<Tensor> t, r.takeOptional(name, {type.dtype}, shapeText(type.shape).c_str(), {}));
    if (!t) continue;
    if (t->shape() == withoutQueries(name, type.shape)) t = t->reshaped(type.shape);
    NEREID_CHECK_OK(r.expectShape(name, *t, type.shape, "the shape that the inputs give"));
    c.expected[name] = std::move(*t);
  }
  return {};
}

}  // namespace

Result<Case> parseCase(const TensorFile& file) {
  CaseReader r(file);
  std::string kinds;
  for (const Kind& k : kKinds) kinds += (kinds.empty() ? "" : ", ") + std::string(k.name);
  NEREID_TRY(const std::string name, r.need("kind", kinds));
  for (const Kind& kind : kKinds) {
    if (name != kind.name) continue;
    NEREID_TRY(Call call, kind.read(r));
    Case c{.path = file.path, .metadata = file.metadata, .call = std::move(call)};
    NEREID_CHECK_OK(takeExpected(r, c));
    NEREID_CHECK_OK(r.rejectUnknown());
    return c;
  }
  return r.metadataError("kind", fmt::format("is '{}'", name), fmt::format("accepted: {}", kinds));
}

Result<Case> readCase(const std::string& path) {
  NEREID_TRY(const TensorFile file, readTensorFile(path));
  return parseCase(file);
}

}  // namespace nereid::kernels
