// Schedules without a tuner: shapes of the field, limits of every target, splits, batch invariance.
#include "kernels_dsl/spec/heuristic.h"

#include <tuple>

#include "kernels_dsl/spec/case_file.h"
#include "kernels_dsl/spec/launch/tiles.h"
#include "tests/unit/spec/cases.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

Target target(const char* name) {
  auto t = findTarget(name);
  REQUIRE(t.ok());
  return *t;
}

SparseDecodeProblem decode(const char* layout, int64_t rows, int64_t heads, int64_t topk, int64_t extra_topk = 0) {
  ProblemFields fields = {{"layout", layout},
                          {"page_size", "64"},
                          {"topk", std::to_string(topk)},
                          {"heads", std::to_string(heads)},
                          {"rows", std::to_string(rows)}};
  if (extra_topk) fields.insert({{"extra_topk", std::to_string(extra_topk)}, {"extra_page_size", "2"}});
  auto p = SparseDecodeProblem::parse(fields);
  REQUIRE(p.ok());
  return *p;
}

int ceilDiv(int64_t a, int64_t b) { return int((a + b - 1) / b); }

}  // namespace

TEST_CASE("sparse_decode: roles and grids follow the heads of a block") {
  for (int64_t heads : {1, 8, 16, 17, 64, 128, 200}) {
    const Schedule s = chooseSchedule(decode("MODEL1", 64, heads, 512), target("sm_120a"));
    const int tile = s.tile.at("heads");
    CHECK(tile == (heads <= 16 ? 16 : 32));
    CHECK(s.tile.at("tokens") == 32);
    CHECK(s.stages == (tile == 16 ? 2 : 4));
    CHECK(s.blocks_per_sm == (tile == 16 ? 2 : 1));
    CHECK(s.grid.at("qk").m == 1);  // all heads in each warp
    CHECK(s.grid.at("pv").m == 1);
    REQUIRE(s.roles.size() == (tile == 16 ? 2 : 4));
    CHECK(s.roles[0].name == "load");
    CHECK(s.roles[0].dots.empty());
    CHECK(s.roles[0].groups <= s.stages);
    CHECK(s.roles[1].dots == (tile == 16 ? std::vector<std::string>{"qk", "pv"} : std::vector<std::string>{"qk"}));
    for (const Role& role : s.roles)
      for (const std::string& dot : role.dots) CHECK(s.grid.at(dot).warps() == role.warps);
  }
}

TEST_CASE("sparse_decode: products of e4m3 sum over 32 tokens at a time, and their addends of q leave room for 16 heads") {
  for (const char* name : {"sm_120a", "sm_121a", "sm_90a", "sm_89"})
    for (const char* layout : {"MODEL1", "V32"})
      for (int64_t heads : {8, 64}) {
        auto p = decode(layout, 64, heads, 512);
        p.arith = Arith::kFp8;
        const Schedule s = chooseSchedule(p, target(name));
        CHECK(s.tile.at("tokens") == 32);
        CHECK(s.tile.at("heads") == 16);
        CHECK(estimateSharedBytes(p, s) <= target(name).shared_per_block);
      }
}

TEST_CASE("sparse_decode: budgets of roles add up to what a block is launched with") {
  for (const char* layout : {"MODEL1", "V32"})
    for (int64_t heads : {16, 64})
      for (int64_t extra : {0, 64}) {
        const Target t = target("sm_120a");
        const Schedule s = chooseSchedule(decode(layout, 64, heads, 512, extra), t);
        if (s.roles[0].registers == 0) continue;
        CAPTURE(s.text());
        int sum = 0;
        for (const Role& role : s.roles) sum += role.registers * role.warps * 32;
        CHECK(sum <= t.registers_per_sm / s.blocks_per_sm / (s.totalWarps() * 32) / 8 * 8 * s.totalWarps() * 32);
      }
}

TEST_CASE("sparse_decode: splits fill the chip and no more") {
  struct Row {
    int64_t rows, heads, topk;
    int heads_of_block, splits;
  };
  // Shapes of the performance table with what the prototype found best, up to a factor of two where it makes no difference.
  for (const Row& r : {Row{1, 16, 2048, 16, 32}, Row{1, 64, 512, 16, 8}, Row{16, 64, 2048, 32, 4}, Row{64, 16, 512, 16, 4},
                       Row{64, 64, 512, 32, 1}, Row{256, 64, 2048, 32, 1}, Row{256, 16, 2048, 16, 1}, Row{1, 16, 32, 16, 1},
                       Row{1, 16, 1, 16, 1}}) {
    CAPTURE(r.rows);
    CAPTURE(r.heads);
    CAPTURE(r.topk);
    const Schedule s = chooseSchedule(decode("MODEL1", r.rows, r.heads, r.topk), target("sm_120a"));
    CHECK(s.tile.at("heads") == r.heads_of_block);
    CHECK(s.splits == r.splits);
  }
}

TEST_CASE("sparse_decode: every target, layout and shape: fits, no empty split, and its text parses back") {
  for (const Target& t : allTargets())
    for (const KvLayout& layout : allLayouts())
      for (int64_t rows : {0, 1, 3, 16, 64, 256, 100000})
        for (int64_t heads : {1, 16, 20, 64, 128})
          for (int64_t topk : {1, 31, 33, 130, 512, 2051, 100000})
            for (int64_t extra : {0, 64}) {
              const SparseDecodeProblem p = decode(layout.name.c_str(), rows, heads, topk, extra);
              for (const Target& limited : {t, withSm120Limits(t)}) {
                const Schedule s = chooseSchedule(p, limited);
                CAPTURE(s.text());
                CAPTURE(t.name);
                if (t.isGpu()) {
                  REQUIRE(estimateSharedBytes(p, s) <= limited.shared_per_block);
                  REQUIRE(s.totalWarps() * 32 <= t.max_threads_per_block);
                }
                const int tokens = s.tile.at("tokens");
                const int tiles = ceilDiv(topk, tokens) + ceilDiv(extra, tokens);
                REQUIRE(s.splits >= 1);
                REQUIRE(s.splits <= 32);
                REQUIRE(ceilDiv(tiles, ceilDiv(tiles, s.splits)) == s.splits);
                auto again = parseSchedule(s.text(), Schedule{});
                REQUIRE(again.ok());
                REQUIRE(*again == s);
              }
            }
}

TEST_CASE("sparse_decode: wide rows give up stages, then heads, then tokens") {
  CHECK(chooseSchedule(decode("MODEL1", 64, 64, 512), target("sm_120a")).stages == 4);
  const Schedule v32 = chooseSchedule(decode("V32", 64, 64, 512), target("sm_120a"));
  CHECK(v32.tile.at("heads") == 32);
  CHECK(v32.stages == 3);
  CHECK(chooseSchedule(decode("V32", 64, 64, 512), target("sm_90a")).stages == 4);
  const Schedule bf16 = chooseSchedule(decode("BF16", 64, 64, 512), target("sm_120a"));
  CHECK(bf16.tile.at("heads") == 16);
  CHECK(bf16.tile.at("tokens") == 32);
  CHECK(bf16.stages == 2);
}

TEST_CASE("sparse_decode: batch_invariant does not look at the rows") {
  for (int64_t heads : {16, 64})
    for (int64_t topk : {64, 512, 2048}) {
      SparseDecodeProblem p = decode("MODEL1", 1, heads, topk);
      p.batch_invariant = true;
      const Schedule one = chooseSchedule(p, target("sm_120a"));
      for (int64_t rows : {0, 2, 64, 65, 4096}) {
        p.rows = rows;
        CHECK(chooseSchedule(p, target("sm_120a")) == one);
      }
      CHECK(one.splits == std::max<int64_t>(1, topk / 256));
    }
}

TEST_CASE("sparse_decode: generic kernels without hints have a schedule too") {
  auto s = chooseSchedule("sparse_decode", {{"layout", "MODEL1"}, {"heads", "64"}, {"specialise", "generic"}}, target("sm_120a"));
  REQUIRE(s.ok());
  CHECK(s->splits > 1);
}

TEST_CASE("a stride that is no multiple of 16 makes copies narrower, without another change") {
  auto schedule = [](int64_t gap, int64_t extra_gap) {
    TensorFile f = decodeFile(true);
    f.tensors["k_cache"] = zeros(DType::kU8, {4, 5 * 576 + gap});
    f.tensors["extra_k_cache"] = zeros(DType::kU8, {4, 5 * 576 + extra_gap});
    auto c = parseCase(f);
    REQUIRE(c.ok());
    return chooseSchedule(c->call, target("sm_120a"));
  };
  const Schedule wide = schedule(0, 48);
  CHECK(wide.tile.count("align") == 0);
  for (auto [gap, extra, align] : {std::tuple{8, 0, 8}, {0, 24, 8}, {4, 8, 4}, {2, 16, 2}, {16, 1, 1}}) {
    Schedule narrow = schedule(gap, extra);
    CHECK(narrow.tile.at("align") == align);
    narrow.tile.erase("align");
    CHECK(narrow == wide);
  }
}

TEST_CASE("programs accept the chosen tile sizes") {
  const std::pair<const char*, ProblemFields> kernels[] = {{"gather_dequant", {{"layout", "V32"}, {"page_size", "64"}}},
                                                           {"page_split", {{"page_size", "256"}}},
                                                           {"page_mark", {{"page_size", "256"}}},
                                                           {"pack_kv", {{"layout", "MODEL1"}, {"page_size", "64"}}}};
  auto rows = [&](int i) { return chooseSchedule(kernels[i].first, kernels[i].second, target("sm_90a")); };
  CHECK(gatherDequantTiles(*rows(0)).ok());
  CHECK(pageSplitTiles(*rows(1)).ok());
  CHECK(pageMarkTiles(*rows(2)).ok());
  CHECK(packKvTiles(*rows(3)).ok());
  CHECK(sparseDecodeTiles(chooseSchedule(decode("MODEL1", 1, 64, 512), target("sm_90a"))).ok());
  const CombineProblem combine{.heads = 16, .splits = 4};
  CHECK(combineTiles(chooseSchedule(combine, target("sm_90a")), combine).ok());
}

TEST_CASE("the CPU and the other kernels have tiles and no roles") {
  const Schedule cpu = chooseSchedule(decode("MODEL1", 1, 64, 2048), target("cpu"));
  CHECK(cpu.roles.empty());
  CHECK(cpu.splits == 1);
  const std::pair<const char*, ProblemFields> kernels[] = {{"combine", {{"heads", "16"}, {"splits", "4"}}},
                                                           {"gather_dequant", {{"layout", "V32"}, {"page_size", "64"}}},
                                                           {"page_split", {{"page_size", "256"}}},
                                                           {"page_mark", {{"page_size", "256"}}},
                                                           {"pack_kv", {{"layout", "MODEL1"}, {"page_size", "64"}}}};
  for (const auto& [kernel, fields] : kernels) {
    CAPTURE(std::string(kernel));
    auto s = chooseSchedule(kernel, fields, target("sm_120a"));
    REQUIRE(s.ok());
    CHECK(s->roles.empty());
    CHECK(s->warps == 4);
    CHECK((s->tile.count("rows") == 1) == (std::string(kernel) != "combine"));
    CHECK(s->splits == 1);
  }
  CHECK_FALSE(chooseSchedule("sparse_decode", {{"layout", "MODEL9"}}, target("sm_120a")).ok());
  CHECK_FALSE(chooseSchedule("dense", {}, target("sm_120a")).ok());
}
