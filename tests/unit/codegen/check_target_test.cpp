// checkTarget against the real back end and assembler: what it lets through compiles, what it refuses does not.
#include "compiler/codegen/check_target.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/unit/codegen/fixtures.h"
#include "tests/unit/codegen/op_samples.h"

using namespace nereid;
using namespace nereid::compiler;
using namespace nereid::compiler::test;

namespace {

// It compiles on sm_120a, but the assembler makes a call of it and then ignores setmaxnreg (warning C7506): refused on purpose.
bool isRefusedByChoice(const OpSample& sample, const Target& target) {
  return std::string(sample.name) == "cp.async.bulk.cluster" && target.sm >= 120;
}

bool compiles(const OpSample& sample, const Target& target) {
  return succeedsInChild([&] {
    Parsed parsed(sampleModule(sample));
    Trace trace;
    if (!parsed.module || !lowerToLlvmDialect(*parsed, trace)) return false;
    Result<std::string> ptx = moduleToPtxUnchecked(*parsed, target, trace);
    if (!ptx) return false;
    return assemble(*ptx, target).ok();
  });
}

}  // namespace

TEST_CASE("every sample parses and every row has a sample") {
  // Rows that hold back ops which no target of ours has, and rows kept by a prefix that another sample tests.
  const std::set<std::string> without_sample = {"nvvm.wgmma.*", "nvvm.tcgen05.*"};
  std::set<const TargetRule*> used;
  for (const OpSample& sample : opSamples()) {
    Parsed parsed(sampleModule(sample));
    INFO(std::string(sample.name), ": ", parsed.error);
    CHECK(parsed.module);
    if (!parsed.module) continue;
    parsed.module->walk([&](mlir::Operation* op) {
      if (const TargetRule* rule = findTargetRule(op)) used.insert(rule);
    });
  }
  for (const TargetRule& rule : targetRules()) {
    INFO(std::string(rule.op), " ", std::string(rule.variant));
    CHECK((used.count(&rule) != 0 || without_sample.count(rule.op) != 0));
  }
}

TEST_CASE("the verdict agrees with the back end and the assembler") {
  int let_through = 0, refused = 0;
  for (const OpSample& sample : opSamples()) {
    for (const Target& target : gpuTargets()) {
      Parsed parsed(sampleModule(sample));
      if (!parsed.module) continue;
      Status status = checkTarget(*parsed, target);
      INFO(std::string(sample.name), " on ", target.name, ", PTX ", target.ptx_version, ": ", status ? "" : status.diag().text());
      CHECK((compiles(sample, target) && !isRefusedByChoice(sample, target)) == status.ok());
      (status ? let_through : refused)++;
    }
  }
  MESSAGE(let_through << " let through, " << refused << " refused");
}

TEST_CASE("the verdict agrees for each PTX version") {
  const std::vector<std::pair<const char*, std::vector<int>>> versions = {{"sm_80", {70, 71}}, {"sm_90a", {81, 84, 86}}};
  for (const auto& [name, list] : versions) {
    Target target = *findTarget(name);
    for (int version : list) {
      target.ptx_version = version;
      for (const OpSample& sample : opSamples()) {
        Parsed parsed(sampleModule(sample));
        if (!parsed.module) continue;
        Status status = checkTarget(*parsed, target);
        INFO(std::string(sample.name), " on ", target.name, ", PTX ", target.ptx_version, ": ",
             status ? "" : status.diag().text());
        CHECK(compiles(sample, target) == status.ok());
      }
    }
  }
}
