// nereid compile KERNEL key=value… --target T
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/compile_keys.h"
#include "tools/nereid/commands.h"

namespace nereid::tools {
namespace {

struct Flags {
  std::string kernel, target = "sm_120a", codegen = "nvptx", limits = "sm_120", schedule, emit, out;
  std::vector<std::string> keys;
  bool resources = false, explain = false, json = false, quiet = false;
};

double total(const Artifact& a) {
  double ms = 0;
  for (const auto& [stage, t] : a.stages_ms) ms += t;
  return ms;
}

void printJson(const Artifact& a) {
  nlohmann::ordered_json j;
  j["kernel"] = a.spec.kernel;
  j["target"] = a.spec.target.name;
  j["codegen"] = a.spec.codegen;
  j["schedule"] = a.spec.schedule.text();
  j["registers"] = a.resources.registers;
  j["spill_bytes"] = a.resources.spill_bytes;
  j["shared_bytes"] = a.resources.shared_bytes;
  j["stack_bytes"] = a.resources.stack_bytes;
  j["cubin_bytes"] = a.cubin.size();
  j["compile_ms"] = total(a);
  j["stages_ms"] = a.stages_ms;
  std::printf("%s\n", j.dump().c_str());
}

void printResources(const Artifact& a) {
  std::printf("%s for %s\n", a.spec.kernel.c_str(), a.spec.target.name.c_str());
  std::printf("  schedule       %s\n", a.spec.schedule.text().c_str());
  std::printf("  threads        %d a block\n", a.threads);
  std::printf("  registers      %d a thread\n", a.resources.registers);
  std::printf("  spills         %d bytes a thread\n", a.resources.spill_bytes);
  std::printf("  shared memory  %d bytes a block (limit %d)\n", a.resources.shared_bytes, a.spec.target.shared_per_block);
  std::printf("  stack          %d bytes\n", a.resources.stack_bytes);
  std::printf("  cubin          %zu bytes\n", a.cubin.size());
  std::printf("  instructions  ");
  for (const auto& [name, count] : a.resources.instructions)
    if (count) std::printf(" %s %d", name.c_str(), count);
  std::printf("\n  compile time   %.0f ms:", total(a));
  for (const auto& [stage, ms] : a.stages_ms) std::printf(" %s %.0f", stage.c_str(), ms);
  std::printf("\n");
}

int run(const Flags& flags) {
  if (auto s = api::checkCodegen(flags.codegen); !s.ok()) return report(s.diag());
  auto limits = api::parseLimits(flags.limits);
  if (!limits) return report(limits.diag());
  const api::CompileKeysOptions options{flags.target, *limits, flags.schedule, flags.emit};
  auto spec = api::specFromKeys(flags.kernel, flags.keys, options);
  if (!spec) return report(spec.diag());
  if (flags.explain) std::printf("%s", api::explainSchedule(*spec).c_str());
  auto compiled = api::compileKeys(*spec, options);
  if (!compiled) return report(compiled.diag());
  if (!flags.out.empty()) {
    if (auto s = api::writeFile(flags.out, compiled->form); !s.ok()) return report(s.diag());
  } else if (!flags.emit.empty()) {
    if (flags.emit == "cubin") return report({Code::kUsage, "a cubin is not text", "--emit cubin", "name a file with -o"});
    std::fwrite(compiled->form.data(), 1, compiled->form.size(), stdout);
  }
  if (flags.json)
    printJson(compiled->artifact);
  else if (flags.resources || (flags.emit.empty() && !flags.quiet))
    printResources(compiled->artifact);
  return 0;
}

}  // namespace

void addCompile(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* c = app.add_subcommand("compile", "compiles one kernel; no GPU is needed");
  c->add_option("KERNEL", flags->kernel, "sparse_decode, combine, gather_dequant, page_split, page_mark, pack_kv")->required();
  c->add_option("KEYS", flags->keys, "the problem, as key=value words");
  c->add_option("--target", flags->target, "sm_120a, sm_121a, sm_90a, sm_89, sm_80, cpu")->capture_default_str();
  c->add_option("--codegen", flags->codegen, "code generator: nvptx")->capture_default_str();
  c->add_option("--limits", flags->limits, "shared memory and warps that schedules may use: sm_120 or chip")
      ->capture_default_str();
  c->add_option("--schedule", flags->schedule, "changes to the schedule, key=value,…");
  c->add_flag("--explain-schedule", flags->explain, "what the schedule means");
  c->add_option("--emit", flags->emit, "a stage to print or write")
      ->check(CLI::IsMember({"tile", "gpu", "llvm", "ptx", "cubin"}));
  c->add_flag("--resources", flags->resources, "registers, spills, shared memory, instructions, compile time");
  c->add_option("-o", flags->out, "file to write");
  c->add_flag("--json", flags->json, "one JSON object on stdout");
  c->add_flag("--quiet", flags->quiet, "only results and errors");
  c->footer(
      "Examples:\n  nereid compile sparse_decode layout=MODEL1 heads=64 page_size=64 topk=512 --resources\n"
      "  nereid compile sparse_decode layout=V32 heads=128 page_size=64 topk=2048 --target sm_90a --emit ptx\n"
      "  nereid compile combine heads=64 splits=8 -o combine.cubin --json");
  c->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nereid::tools
