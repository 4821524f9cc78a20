// nereid run CASE.safetensors
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/compile_kernel.h"
#include "api/run_file.h"
#include "tools/nereid/commands.h"

namespace nereid::tools {
namespace {

struct Flags {
  std::string file, device = "auto", codegen = "nvptx", limits = "sm_120", target = "sm_120a", schedule, out;
  bool check = false, json = false, quiet = false;
  int repeat = 0;
  uint64_t seed = 0;
};

void printText(const api::FileReport& report, const Flags& flags, const api::Device& device) {
  if (!flags.quiet) {
    std::string kernels;
    for (const std::string& k : report.kernels) kernels += (kernels.empty() ? "" : ", ") + k;
    std::printf("%s on %s: %s\n", flags.file.c_str(), device.text.c_str(),
                kernels.empty() ? "nothing to launch" : kernels.c_str());
    if (report.time_us) std::printf("time %.2f us\n", *report.time_us);
  }
  for (const auto& o : report.outputs)
    std::printf("%-6s relative error %.2e (limit %.0e), worst row %.2e, largest difference %.2e, %lld in the wrong place%s\n",
                o.name.c_str(), o.rel_error, o.limit, o.worst_row, o.max_abs, static_cast<long long>(o.mismatches),
                o.ok ? "" : "  <-- outside its limit");
  if (flags.check) std::printf("%s\n", report.ok ? "ok" : "FAILED");
}

void printJson(const api::FileReport& report, const Flags& flags, const api::Device& device) {
  nlohmann::ordered_json j;
  j["ok"] = report.ok;
  j["device"] = device.text;
  j["codegen"] = flags.codegen;
  j["schedule"] = report.schedule;
  j["limits"] = flags.limits;
  if (report.time_us)
    j["time_us"] = *report.time_us;
  else
    j["time_us"] = nullptr;
  j["outputs"] = nlohmann::ordered_json::array();
  for (const auto& o : report.outputs)
    j["outputs"].push_back({{"name", o.name},
                            {"rel_error", o.rel_error},
                            {"worst_row", o.worst_row},
                            {"max_abs", o.max_abs},
                            {"limit", o.limit},
                            {"mismatches", o.mismatches},
                            {"ok", o.ok}});
  std::printf("%s\n", j.dump().c_str());
}

int run(const Flags& flags) {
  if (auto s = api::checkCodegen(flags.codegen); !s.ok()) return report(s.diag());
  auto limits = api::parseLimits(flags.limits);
  if (!limits) return report(limits.diag());
  auto device = api::findDevice(flags.device);
  if (!device) return report(device.diag());
  if (!device->notice.empty())
    std::fprintf(stderr, "nereid: notice: %s (--device cpu chooses it without this line)\n", device->notice.c_str());
  api::RunFileOptions options;
  options.run = {.device = *device,
                 .limits = *limits,
                 .target = flags.target,
                 .schedule = flags.schedule,
                 .repeat = flags.repeat,
                 .seed = flags.seed};
  options.check = flags.check;
  options.out = flags.out;
  auto result = api::runFile(flags.file, options);
  if (!result) return report(result.diag());
  if (flags.json)
    printJson(*result, flags, *device);
  else
    printText(*result, flags, *device);
  return result->ok ? 0 : exitCode(Code::kCheckFailed);
}

}  // namespace

void addRun(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* c = app.add_subcommand("run", "runs the kernels of a case file and compares with the tensors it expects");
  c->add_option("CASE", flags->file, "case file (safetensors)")->required();
  c->add_option("--device", flags->device, "auto, cpu, emu (the GPU's code on the CPU, checked), cuda, cuda:N")
      ->capture_default_str();
  c->add_option("--codegen", flags->codegen, "code generator: nvptx")->capture_default_str();
  c->add_option("--limits", flags->limits, "shared memory and warps that schedules may use: sm_120 or chip")
      ->capture_default_str();
  c->add_option("--target", flags->target, "target of --device emu")->capture_default_str();
  c->add_option("--schedule", flags->schedule, "changes to the schedule, key=value,…");
  c->add_flag("--check", flags->check, "compare with the expected tensors; the last line is ok or FAILED");
  c->add_option("--out", flags->out, "write the computed tensors to this file");
  c->add_option("--repeat", flags->repeat, "GPU: time this many launches, report the median")->check(CLI::Range(0, 1000000));
  c->add_option("--seed", flags->seed, "emu: order of warps and of asynchronous copies");
  c->add_flag("--json", flags->json, "one JSON object on stdout");
  c->add_flag("--quiet", flags->quiet, "only results and errors");
  c->footer(
      "Examples:\n  nereid run case.safetensors --check\n  nereid run case.safetensors --device cuda:0 --repeat 100 --json\n"
      "  nereid run case.safetensors --device emu --target sm_120a --check\n  nereid run case.safetensors --device cpu --out "
      "got.safetensors");
  c->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nereid::tools
