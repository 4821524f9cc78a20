// Problems: keys to typed values and back, defaults, and each key, value and combination that is refused.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels_dsl/spec/problems/problem.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

const ProblemFields kDecode = {{"layout", "MODEL1"}, {"page_size", "64"}, {"topk", "128"}, {"heads", "16"}};

ProblemFields with(ProblemFields fields, const ProblemFields& change) {
  for (const auto& [key, value] : change) {
    if (value == "-")
      fields.erase(key);
    else
      fields[key] = value;
  }
  return fields;
}

SparseDecodeProblem decode(const ProblemFields& change = {}) {
  auto r = SparseDecodeProblem::parse(with(kDecode, change));
  if (!r.ok()) FAIL(r.diag().text());
  return *r;
}

// The error of a kernel's keys; it is a usage error with a place and advice, and has each word.
void refused(const char* kernel, const ProblemFields& fields, const std::vector<std::string>& words) {
  auto r = parseProblem(kernel, fields);
  REQUIRE_FALSE(r.ok());
  const Diag& d = r.diag();
  CAPTURE(d.text());
  CHECK(d.code == Code::kUsage);
  CHECK_FALSE(d.where.empty());
  CHECK_FALSE(d.fix.empty());
  for (const std::string& w : words) CHECK(d.text().find(w) != std::string::npos);
}

}  // namespace

TEST_CASE("sparse_decode: defaults") {
  const SparseDecodeProblem p = decode();
  CHECK(p.source.layout->name == "MODEL1");
  CHECK(p.source.page_size == 64);
  CHECK(p.source.topk == 128);
  CHECK(p.source.index == IndexType::kI32);
  CHECK_FALSE(p.source.lengths);
  CHECK_FALSE(p.extra.exists());
  CHECK(p.heads == 16);
  CHECK(p.d_qk == 512);
  CHECK(p.d() == 512);
  CHECK(p.head_dim_v == 512);
  CHECK(p.s_q == 1);
  CHECK_FALSE(p.sink);
  CHECK(p.lse == LseConvention{});
  CHECK(p.arith == Arith::kF16);
  CHECK_FALSE(p.batch_invariant);
  CHECK(p.rows == 0);
  CHECK_FALSE(p.generic());
  CHECK(decode({{"layout", "V32"}}).d_qk == 576);
  CHECK(decode({{"layout", "V32"}}).head_dim_v == 512);
}

TEST_CASE("sparse_decode: every key") {
  const SparseDecodeProblem p = decode({{"d_qk", "576"},
                                        {"head_dim_v", "448"},
                                        {"s_q", "3"},
                                        {"index", "i64"},
                                        {"lengths", "1"},
                                        {"sink", "1"},
                                        {"extra_page_size", "2"},
                                        {"extra_topk", "1024"},
                                        {"extra_lengths", "1"},
                                        {"extra_index", "i32"},
                                        {"lse_base", "2"},
                                        {"lse_sink", "1"},
                                        {"lse_empty", "+inf"},
                                        {"arith", "bf16"},
                                        {"batch_invariant", "1"},
                                        {"rows", "64"},
                                        {"topk", "2051"},
                                        {"heads", "66"}});
  CHECK(p.d_qk == 576);
  CHECK(p.head_dim_v == 448);
  CHECK(p.s_q == 3);
  CHECK(p.source == SourceProblem{p.source.layout, 64, 2051, IndexType::kI64, true});
  CHECK(p.extra == SourceProblem{p.source.layout, 2, 1024, IndexType::kI32, true});
  CHECK(p.sink);
  CHECK(p.lse == LseConvention{LseBase::k2, true, LseEmpty::kPlusInf});
  CHECK(p.arith == Arith::kBF16);
  CHECK(p.batch_invariant);
  CHECK(p.rows == 64);
}

TEST_CASE("sparse_decode: the second source follows the first where nothing is said") {
  const SparseDecodeProblem p =
      decode({{"layout", "V32"}, {"index", "i64"}, {"lengths", "1"}, {"extra_topk", "7"}, {"extra_page_size", "16"}});
  CHECK(p.extra.layout->name == "V32");
  CHECK(p.extra.index == IndexType::kI64);
  CHECK_FALSE(p.extra.lengths);
  CHECK(
      decode({{"layout", "V32"}, {"extra_layout", "BF16"}, {"extra_topk", "7"}, {"extra_page_size", "16"}}).extra.layout->name ==
      "BF16");
  CHECK_FALSE(decode({{"extra_topk", "0"}, {"extra_page_size", "0"}, {"extra_lengths", "0"}}).extra.exists());
}

TEST_CASE("sparse_decode: the key has what the kernel depends on and nothing else") {
  CHECK(decode({{"rows", "64"}}).fields() == decode().fields());
  CHECK(decode({{"d_qk", "512"}, {"s_q", "1"}, {"index", "i32"}}).fields() == decode().fields());
  CHECK(decode({{"lse_sink", "1"}}).fields() == decode().fields());  // no sink to take in
  CHECK(decode({{"sink", "1"}, {"lse_sink", "1"}}).fields() != decode({{"sink", "1"}}).fields());
  CHECK(decode().fields().count("extra_topk") == 0);
  const ProblemFields changes[] = {{{"layout", "V32"}},
                                   {{"page_size", "65"}},
                                   {{"topk", "129"}},
                                   {{"heads", "17"}},
                                   {{"d_qk", "576"}},
                                   {{"head_dim_v", "448"}},
                                   {{"s_q", "2"}},
                                   {{"index", "i64"}},
                                   {{"lengths", "1"}},
                                   {{"sink", "1"}},
                                   {{"extra_topk", "1"}, {"extra_page_size", "1"}},
                                   {{"lse_base", "2"}},
                                   {{"lse_empty", "+inf"}},
                                   {{"arith", "bf16"}},
                                   {{"batch_invariant", "1"}},
                                   {{"specialise", "generic"}}};
  for (const ProblemFields& c : changes) {
    CAPTURE(c.begin()->first);
    CHECK(decode(c).fields() != decode().fields());
    auto again = SparseDecodeProblem::parse(decode(c).fields());
    REQUIRE(again.ok());
    CHECK(again->fields() == decode(c).fields());
  }
}

TEST_CASE("sparse_decode: generic kernels have no page size and top-k in the key") {
  const ProblemFields generic = {{"specialise", "generic"}};
  CHECK(decode(generic).fields() == decode(with(generic, {{"page_size", "-"}, {"topk", "-"}})).fields());
  CHECK(decode(with(generic, {{"page_size", "1000"}, {"topk", "7"}})).fields() == decode(generic).fields());
  CHECK(decode(with(generic, {{"page_size", "1000"}})).source.page_size == 1000);  // a hint
  const SparseDecodeProblem two = decode(with(generic, {{"extra_topk", "7"}, {"extra_page_size", "9"}}));
  CHECK(two.extra.exists());
  CHECK(two.fields() != decode(generic).fields());
  CHECK(two.fields() == decode(with(generic, {{"extra_layout", "MODEL1"}})).fields());
  auto again = SparseDecodeProblem::parse(two.fields());
  REQUIRE(again.ok());
  CHECK(again->extra.exists());
}

TEST_CASE("sparse_decode: what is refused") {
  const std::pair<ProblemFields, std::vector<std::string>> cases[] = {
      {{{"heds", "16"}}, {"heds", "heads", "page_size"}},
      {{{"layout", "-"}}, {"layout", "missing", "MODEL1"}},
      {{{"layout", "MODEL9"}}, {"MODEL9", "MODEL1", "V32", "BF16"}},
      {{{"page_size", "-"}}, {"page_size", "missing", "generic"}},
      {{{"page_size", "0"}}, {"page_size", "from 1"}},
      {{{"page_size", "4611686018427387904"}}, {"page_size"}},
      {{{"page_size", "4x"}}, {"page_size", "4x"}},
      {{{"page_size", " 4"}}, {"page_size"}},
      {{{"topk", "-"}}, {"topk", "missing"}},
      {{{"topk", "0"}}, {"topk"}},
      {{{"topk", "all"}}, {"topk", "all"}},
      {{{"topk", "99999999999999999999"}}, {"topk", "99999999999999999999"}},
      {{{"heads", "-"}}, {"heads", "missing"}},
      {{{"heads", "0"}}, {"heads"}},
      {{{"heads", "-16"}}, {"heads", "-16"}},
      {{{"heads", ""}}, {"heads"}},
      {{{"heads", "5000"}}, {"heads", "4096"}},
      {{{"d_qk", "100"}}, {"d_qk", "512"}},
      {{{"d_qk", "511"}}, {"d_qk", "512"}},
      {{{"head_dim_v", "0"}}, {"head_dim_v"}},
      {{{"head_dim_v", "513"}}, {"head_dim_v", "512"}},
      {{{"s_q", "0"}}, {"s_q"}},
      {{{"index", "i16"}}, {"index", "i16", "i32", "i64"}},
      {{{"lengths", "2"}}, {"lengths", "0 or 1"}},
      {{{"sink", "yes"}}, {"sink", "yes"}},
      {{{"extra_page_size", "64"}}, {"extra_page_size", "extra_topk"}},
      {{{"extra_layout", "V32"}}, {"extra_layout", "extra_topk"}},
      {{{"extra_lengths", "1"}}, {"extra_lengths", "extra_topk"}},
      {{{"extra_index", "i64"}}, {"extra_index", "extra_topk"}},
      {{{"extra_topk", "64"}}, {"extra_page_size"}},
      {{{"extra_topk", "64"}, {"extra_page_size", "0"}}, {"extra_page_size"}},
      {{{"extra_topk", "-1"}}, {"extra_topk"}},
      {{{"extra_topk", "4"}, {"extra_page_size", "4"}, {"extra_layout", "V32"}}, {"extra_layout", "512", "576"}},
      {{{"extra_topk", "4"}, {"extra_page_size", "4"}, {"extra_layout", "V33"}}, {"extra_layout", "V33"}},
      {{{"specialise", "generic"}, {"extra_topk", "0"}, {"extra_layout", "V32"}}, {"extra_layout"}},
      {{{"lse_base", "10"}}, {"lse_base", "e or 2"}},
      {{{"lse_sink", "x"}}, {"lse_sink"}},
      {{{"lse_empty", "0"}}, {"lse_empty", "-inf", "+inf"}},
      {{{"arith", "f64"}}, {"arith", "f64", "f16", "bf16", "fp8"}},
      {{{"arith", "fp8"}, {"layout", "BF16"}}, {"arith", "fp8"}},
      {{{"batch_invariant", "2"}}, {"batch_invariant"}},
      {{{"rows", "-1"}}, {"rows"}},
      {{{"specialise", "both"}}, {"specialise", "exact", "generic"}},
  };
  for (const auto& [change, words] : cases) {
    CAPTURE(change.begin()->first);
    CAPTURE(change.begin()->second);
    refused("sparse_decode", with(kDecode, change), words);
  }
}

TEST_CASE("the other kernels: defaults, keys, and back") {
  const std::pair<const char*, ProblemFields> problems[] = {
      {"combine",
       {{"heads", "16"},
        {"head_dim_v", "448"},
        {"splits", "7"},
        {"s_q", "2"},
        {"sink", "1"},
        {"lse_base", "2"},
        {"lse_sink", "1"},
        {"lse_empty", "+inf"}}},
      {"gather_dequant", {{"layout", "V32"}, {"page_size", "3"}, {"index", "i64"}}},
      {"page_split", {{"layout", "V32"}, {"page_size", "96"}, {"dst_page_size", "32"}, {"marks", "1"}}},
      {"page_mark", {{"page_size", "69"}, {"index", "i64"}, {"lengths", "1"}}},
      {"pack_kv", {{"layout", "V32"}, {"page_size", "16"}, {"index", "i64"}, {"pow2", "1"}}},
  };
  for (const auto& [kernel, fields] : problems) {
    CAPTURE(kernel);
    auto p = parseProblem(kernel, fields);
    REQUIRE(p.ok());
    CHECK(std::string(kernelOf(*p)) == kernel);
    CHECK(fieldsOf(*p) == fields);
  }
  auto combine = CombineProblem::parse({{"heads", "3"}, {"splits", "2"}, {"lse_sink", "1"}});
  REQUIRE(combine.ok());
  CHECK(combine->head_dim_v == 512);
  CHECK_FALSE(combine->lse.sink);
  auto split = PageSplitProblem::parse({{"page_size", "256"}});
  REQUIRE(split.ok());
  CHECK(split->layout->name == "MODEL1");
  CHECK(split->ratio() == 4);
  CHECK_FALSE(split->marks);
}

TEST_CASE("pack_kv: where the layout decides on powers of two, the key has one form") {
  auto pow2 = [](const char* layout, const char* flag) {
    auto p = PackKvProblem::parse({{"layout", layout}, {"page_size", "16"}, {"pow2", flag}});
    REQUIRE(p.ok());
    return p->pow2;
  };
  CHECK(pow2("MODEL1", "0"));
  CHECK(pow2("MODEL1", "1"));
  CHECK_FALSE(pow2("V32", "0"));
  CHECK(pow2("V32", "1"));
  CHECK_FALSE(pow2("BF16", "1"));
}

TEST_CASE("the other kernels: what is refused") {
  refused("dense_decode", {},
          {"dense_decode", "sparse_decode", "combine", "gather_dequant", "page_split", "page_mark", "pack_kv"});
  refused("combine", {{"splits", "2"}}, {"heads", "missing"});
  refused("combine", {{"heads", "2"}}, {"splits", "missing"});
  refused("combine", {{"heads", "2"}, {"splits", "0"}}, {"splits", "1024"});
  refused("combine", {{"heads", "2"}, {"splits", "2"}, {"head_dim_v", "0"}}, {"head_dim_v"});
  refused("combine", {{"heads", "2"}, {"splits", "2"}, {"page_size", "64"}}, {"page_size", "splits"});
  refused("gather_dequant", {{"layout", "V32"}}, {"page_size", "missing"});
  refused("gather_dequant", {{"page_size", "64"}}, {"layout", "missing"});
  refused("gather_dequant", {{"layout", "V32"}, {"page_size", "64"}, {"topk", "3"}}, {"topk", "page_size"});
  refused("page_split", {}, {"page_size", "missing"});
  refused("page_split", {{"page_size", "100"}}, {"page_size", "100", "64"});
  refused("page_split", {{"page_size", "32"}}, {"32", "64"});
  refused("page_split", {{"page_size", "64"}, {"dst_page_size", "0"}}, {"dst_page_size"});
  refused("page_split", {{"page_size", "64"}, {"marks", "2"}}, {"marks"});
  refused("page_mark", {}, {"page_size", "missing"});
  refused("page_mark", {{"page_size", "64"}, {"layout", "V32"}}, {"layout", "page_size"});
  refused("pack_kv", {{"layout", "V32"}}, {"page_size", "missing"});
  refused("pack_kv", {{"layout", "V32"}, {"page_size", "4"}, {"pow2", "yes"}}, {"pow2", "yes"});
}
