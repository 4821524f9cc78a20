// Schedules as text, targets, specs.
#include "runtime/spec/schedule.h"

#include <doctest/doctest.h>

#include "runtime/spec/spec.h"

using namespace nereid;

namespace {

Schedule twoRoles() {
  Schedule s;
  s.tile = {{"tokens", 32}, {"heads", 16}};
  s.roles = {{.name = "load", .warps = 2, .registers = 40}, {.name = "main", .dots = {"qk", "pv"}, .warps = 4}};
  s.grid = {{"qk", {1, 1, 4}}, {"pv", {1, 4, 1}}};
  s.stages = 3;
  s.copy = Copy::kBulk;
  s.blocks_per_sm = 2;
  s.splits = 8;
  return s;
}

}  // namespace

TEST_CASE("text is canonical and parses back") {
  const Schedule s = twoRoles();
  CHECK(s.text() ==
        "tile.heads=16,tile.tokens=32,role.load.warps=2,role.load.registers=40,role.main.warps=4,role.main.dots=qk+pv,"
        "grid.pv=1x4x1,grid.qk=1x1x4,stages=3,copy=bulk,blocks_per_sm=2,splits=8");
  const auto back = parseSchedule(s.text(), {});
  REQUIRE(back);
  CHECK(*back == s);
  CHECK(back->totalWarps() == 6);
  Schedule one;
  one.warps = 8;
  one.copy = Copy::kAsync;
  const auto again = parseSchedule(one.text(), {});
  REQUIRE(again);
  CHECK(*again == one);
  CHECK(again->totalWarps() == 8);
  CHECK(*parseSchedule("", s) == s);
}

TEST_CASE("keys change the base and nothing else") {
  const auto s = parseSchedule("stages=4,tile.tokens=64,role.main.warps=8,grid.pv=1x8x1", twoRoles());
  REQUIRE(s);
  Schedule expected = twoRoles();
  expected.stages = 4;
  expected.tile["tokens"] = 64;
  expected.roles[1].warps = 8;
  expected.grid["pv"] = {1, 8, 1};
  CHECK(*s == expected);
}

TEST_CASE("roles can be taken away, put in order and added") {
  const auto none = parseSchedule("roles=none,warps=2", twoRoles());
  REQUIRE(none);
  CHECK(none->roles.empty());
  CHECK(none->totalWarps() == 2);
  const auto three =
      parseSchedule("roles=load+qk+pv,role.qk.dots=qk,role.pv.dots=pv,role.pv.warps=8,role.load.registers=0", twoRoles());
  REQUIRE(three);
  REQUIRE(three->roles.size() == 3);
  CHECK(three->roles[0] == Role{.name = "load", .warps = 2});
  CHECK(three->roles[1] == Role{.name = "qk", .dots = {"qk"}});
  CHECK(three->roles[2] == Role{.name = "pv", .dots = {"pv"}, .warps = 8});
  const auto added = parseSchedule("role.extra.warps=1", twoRoles());
  REQUIRE(added);
  CHECK(added->roles.size() == 3);
  const auto loader = parseSchedule("role.main.dots=none", twoRoles());
  REQUIRE(loader);
  CHECK(loader->roles[1].dots.empty());
}

TEST_CASE("wrong keys and values are usage errors that name the key and list what is accepted") {
  struct Wrong {
    const char *text, *key, *accepted;
  };
  const Wrong wrong[] = {{"stage=3", "'stage'", "stages"},
                         {"tile=3", "'tile'", "tile.NAME"},
                         {"tile.=3", "'tile.'", "tile.NAME"},
                         {"tile.a.b=3", "'tile.a.b'", "tile.NAME"},
                         {"role.main=3", "'role.main'", "role.NAME.warps"},
                         {"role.main.warp=3", "'role.main.warp'", "role.NAME.warps"},
                         {"role..warps=3", "'role..warps'", "role.NAME.warps"},
                         {"=3", "''", "stages"},
                         {"stages", "'stages'", "stages"},
                         {"stages=", "stages", "1 to 64"},
                         {"stages=0", "stages", "1 to 64"},
                         {"stages=65", "stages", "1 to 64"},
                         {"stages=3x", "stages", "1 to 64"},
                         {"stages=99999999999", "stages", "1 to 64"},
                         {"warps=33", "warps", "1 to 32"},
                         {"splits=0", "splits", "1 to 1024"},
                         {"blocks_per_sm=-1", "blocks_per_sm", "0 to 32"},
                         {"tile.heads=0", "tile.heads", "1 to 65536"},
                         {"copy=fast", "copy", "auto, bulk, async"},
                         {"grid.qk=4", "grid.qk", "MxNxK"},
                         {"grid.qk=1x2x3x4", "grid.qk", "MxNxK"},
                         {"grid.qk=1x0x4", "grid.qk", "1 to 32"},
                         {"role.main.registers=20", "role.main.registers", "multiple of 8"},
                         {"role.main.registers=100", "role.main.registers", "multiple of 8"},
                         {"role.main.dots=", "role.main.dots", "LABEL"},
                         {"role.main.dots=qk+p v", "role.main.dots", "LABEL"},
                         {"roles=", "roles", "NAME"},
                         {"stages=3,copy=auto,stages=3", "stages", "once"}};
  for (const Wrong& w : wrong) {
    CAPTURE(w.text);
    const auto s = parseSchedule(w.text, twoRoles());
    REQUIRE(!s);
    CHECK(s.diag().code == Code::kUsage);
    CHECK(s.diag().where == "--schedule");
    CHECK(s.diag().what.find(w.key) != std::string::npos);
    CHECK(s.diag().fix.find(w.accepted) != std::string::npos);
  }
}

TEST_CASE("targets: limits as the programming guide and the PTX manual give them") {
  const Target sm120 = *findTarget("sm_120a"), sm90 = *findTarget("sm_90a"), sm80 = *findTarget("sm_80");
  CHECK(sm120.shared_per_block == 101376);
  CHECK(sm120.shared_per_sm == 102400);
  CHECK(sm120.warps_per_sm == 48);
  CHECK(sm120.ptx_version == 87);
  CHECK(findTarget("sm_121a")->ptx_version == 88);
  CHECK(sm90.shared_per_block == 232448);
  CHECK(sm90.shared_per_sm == 233472);
  CHECK(sm90.warps_per_sm == 64);
  CHECK(sm90.ptx_version == 86);
  CHECK(!sm90.has_block_scale);
  CHECK(sm80.shared_per_block == 166912);
  CHECK(sm80.shared_per_sm == 167936);
  CHECK(!sm80.has_fp8);
  CHECK(!sm80.has_bulk_copy);
  CHECK(findTarget("sm_89")->has_fp8);
  for (const Target& t : allTargets()) {
    CHECK(findTarget(t.name)->name == t.name);
    if (t.isGpu()) CHECK(t.shared_per_block + kSharedReservedPerBlock == t.shared_per_sm);
  }
  CHECK(!findTarget("cpu")->isGpu());
  const auto unknown = findTarget("sm_120");
  REQUIRE(!unknown);
  CHECK(unknown.diag().code == Code::kUsage);
  CHECK(unknown.diag().fix.find("sm_120a, sm_121a, sm_90a, sm_89, sm_80, cpu") != std::string::npos);
}

TEST_CASE("SM120's limits on another chip: memory and warps, not instructions") {
  const Target limited = withSm120Limits(*findTarget("sm_90a"));
  CHECK(limited.name == "sm_90a");
  CHECK(limited.shared_per_block == 101376);
  CHECK(limited.shared_per_sm == 102400);
  CHECK(limited.warps_per_sm == 48);
  CHECK(limited.ptx_version == 86);
  CHECK(!limited.has_block_scale);
  CHECK(withSm120Limits(*findTarget("cpu")).text() == "cpu");
  CHECK(withSm120Limits(*findTarget("sm_120a")).text() == findTarget("sm_120a")->text());
}

TEST_CASE("a spec's text differs where anything that code depends on differs") {
  KernelSpec spec{.kernel = "sparse_decode",
                  .problem = {{"heads", "64"}, {"topk", "512"}},
                  .schedule = twoRoles(),
                  .target = *findTarget("sm_90a")};
  CHECK(spec.text().find("kernel=sparse_decode\nproblem.heads=64\nproblem.topk=512\nschedule=tile.heads=16,") == 0);
  std::vector<KernelSpec> others(7, spec);
  others[0].kernel = "combine";
  others[1].problem["heads"] = "128";
  others[2].problem["sink"] = "1";
  others[3].schedule.stages = 4;
  others[4].target = *findTarget("sm_120a");
  others[5].target = withSm120Limits(spec.target);
  others[6].codegen = "nvrtc";
  std::vector<std::string> texts = {spec.text()};
  for (const KernelSpec& o : others) {
    for (const std::string& t : texts) CHECK(o.text() != t);
    texts.push_back(o.text());
  }
}
