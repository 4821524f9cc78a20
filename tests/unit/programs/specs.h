// Specs that several tests record: problem keys and schedule as text.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels_dsl/programs/programs.h"
#include "kernels_dsl/spec/launch/arguments.h"

namespace nereid::kernels::test {

// "layout=MODEL1 page_size=64 …"
inline ProblemFields fieldsOfText(const std::string& text) {
  ProblemFields fields;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string pair = text.substr(at, end - at);
    fields[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    at = end + 1;
  }
  return fields;
}

inline KernelSpec specOf(const std::string& kernel, const std::string& fields, const std::string& schedule = "") {
  KernelSpec spec{.kernel = kernel, .problem = fieldsOfText(fields)};
  auto parsed = parseSchedule(schedule, {});
  REQUIRE_MESSAGE(parsed.ok(), (parsed.ok() ? "" : parsed.diag().text()));
  spec.schedule = *parsed;
  spec.target.name = "cpu";
  return spec;
}

struct NamedSpec {
  const char *kernel, *fields, *schedule;
};

// Every kernel over the options that change its program.
inline const std::vector<NamedSpec>& allSpecs() {
  static const std::vector<NamedSpec> specs = {
      {"sparse_decode", "layout=MODEL1 page_size=64 topk=512 heads=64", ""},
      {"sparse_decode", "layout=MODEL1 page_size=256 topk=130 heads=3 s_q=2 lengths=1 sink=1", "tile.tokens=16"},
      {"sparse_decode", "layout=MODEL1 page_size=1 topk=1 heads=1 head_dim_v=1", "tile.heads=8"},
      {"sparse_decode", "layout=MODEL1 page_size=69 topk=7 heads=22 head_dim_v=448 index=i64 lse_base=2 lse_empty=+inf",
       "splits=3"},
      {"sparse_decode", "layout=V32 page_size=64 topk=2048 heads=128", "tile.heads=32,tile.tokens=64"},
      {"sparse_decode", "layout=V32 page_size=64 topk=70 heads=66 head_dim_v=576 d_qk=600 sink=1 lse_sink=1", ""},
      {"sparse_decode", "layout=V32 topk=2176 heads=16 specialise=generic lengths=1", "splits=4"},
      {"sparse_decode", "layout=V32 page_size=64 topk=64 heads=16 arith=bf16", ""},
      {"sparse_decode", "layout=MODEL1 page_size=64 topk=64 heads=16 arith=fp8", ""},
      {"sparse_decode", "layout=BF16 page_size=16 topk=64 heads=16", ""},
      {"sparse_decode",
       "layout=MODEL1 page_size=256 topk=128 heads=8 extra_page_size=2 extra_topk=1024 lengths=1 extra_lengths=1 sink=1", ""},
      {"sparse_decode", "layout=MODEL1 page_size=64 topk=33 heads=16 index=i64 extra_page_size=64 extra_topk=65 extra_index=i32",
       "splits=2"},
      {"sparse_decode", "layout=MODEL1 heads=16 specialise=generic extra_layout=MODEL1", ""},
      {"sparse_decode", "layout=V32 page_size=64 topk=33 heads=16 extra_layout=BF16 extra_page_size=16 extra_topk=20", ""},
      {"sparse_decode", "layout=BF16 page_size=64 topk=33 heads=16 extra_layout=V32 extra_page_size=16 extra_topk=20",
       "splits=2"},
      {"combine", "heads=64 splits=8", ""},
      {"combine", "heads=3 head_dim_v=576 splits=33 s_q=2 sink=1 lse_sink=1 lse_base=2", ""},
      {"combine", "heads=16 head_dim_v=100 splits=1 lse_empty=+inf", "tile.columns=64"},
      {"gather_dequant", "layout=MODEL1 page_size=64", ""},
      {"gather_dequant", "layout=V32 page_size=20 index=i64", "tile.rows=32"},
      {"gather_dequant", "layout=BF16 page_size=7", ""},
      {"page_split", "page_size=256", ""},
      {"page_split", "page_size=320 marks=1", "tile.rows=16"},
      {"page_split", "page_size=128 layout=V32", ""},
      {"page_mark", "page_size=256", ""},
      {"page_mark", "page_size=69 index=i64 lengths=1", ""},
      {"pack_kv", "layout=MODEL1 page_size=64", ""},
      {"pack_kv", "layout=V32 page_size=16 index=i64", ""},
      {"pack_kv", "layout=V32 page_size=16 pow2=1", "tile.rows=32"},
      {"pack_kv", "layout=BF16 page_size=16", ""},
  };
  return specs;
}

}  // namespace nereid::kernels::test
