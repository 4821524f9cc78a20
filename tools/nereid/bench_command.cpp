// nereid bench
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/bench_decode.h"
#include "tools/nereid/commands.h"

namespace nereid::tools {
namespace {

struct Flags {
  std::string device = "auto", limits = "sm_120", schedule, filter;
  bool json = false;
  int sets = 12, replays = 9;
  uint64_t seed = 1;
};

std::string nameOf(const api::BenchRow& r) {
  std::string s = r.layout + " " + std::to_string(r.rows) + "x" + std::to_string(r.heads) + "x" + std::to_string(r.topk);
  return r.extra_topk ? s + "+" + std::to_string(r.extra_topk) : s;
}

int run(const Flags& flags) {
  auto limits = api::parseLimits(flags.limits);
  if (!limits) return report(limits.diag());
  auto device = api::findDevice(flags.device);
  if (!device) return report(device.diag());
  std::vector<api::BenchRow> rows;
  for (const api::BenchRow& r : api::benchTable())
    if (nameOf(r).find(flags.filter) != std::string::npos) rows.push_back(r);
  if (rows.empty())
    return report({Code::kUsage, "no row contains '" + flags.filter + "'", "--filter", "rows are named like 'MODEL1 64x64x512'"});
  api::BenchOptions options{.device = *device,
                            .limits = *limits,
                            .schedule = flags.schedule,
                            .sets = flags.sets,
                            .replays = flags.replays,
                            .seed = flags.seed};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  int code = 0, counted = 0;
  double logs = 0;
  if (!flags.json)
    std::printf("%-24s %9s %7s %9s %8s %9s %9s %7s  %s\n", "rows x heads x top-k", "us", "spread", "useful", "TFLOP/s",
                "out error", "lse error", "ratio", "schedule");
  auto status = api::benchDecode(rows, options, [&](const Result<api::BenchResult>& r) {
    if (!r) {
      code = report(r.diag());
      return;
    }
    if (!r->ok) code = exitCode(Code::kCheckFailed);
    const double ratio = r->row.neighbour_us / r->us;
    if (ratio > 0) logs += std::log(ratio), counted++;
    if (flags.json) {
      all.push_back({{"row", nameOf(r->row)},
                     {"us", r->us},
                     {"spread", r->spread},
                     {"useful_gbps", r->useful_gbps},
                     {"tflops", r->tflops},
                     {"out_error", r->out_error},
                     {"lse_error", r->lse_error},
                     {"ok", r->ok},
                     {"neighbour_us", r->row.neighbour_us},
                     {"schedule", r->schedule}});
    } else {
      std::printf("%-24s %9.2f %6.1f%% %9.0f %8.0f %9.1e %9.1e %7.2f  %s%s\n", nameOf(r->row).c_str(), r->us, 100 * r->spread,
                  r->useful_gbps, r->tflops, r->out_error, r->lse_error, ratio, r->ok ? "" : "WRONG ", r->schedule.c_str());
      std::fflush(stdout);
    }
  });
  if (!status.ok()) return report(status.diag());
  if (flags.json)
    std::printf("%s\n", all.dump(1).c_str());
  else if (counted)
    std::printf("geometric mean of neighbour / ours over %d rows: %.3f\n", counted, std::exp(logs / counted));
  return code;
}

}  // namespace

void addBench(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* c = app.add_subcommand("bench", "measures sparse_decode on a GPU over the rows of docs/performance-log.md");
  c->add_option("--device", flags->device, "cuda, cuda:N")->capture_default_str();
  c->add_option("--limits", flags->limits, "sm_120: as many resident blocks as SM120 would hold; chip")->capture_default_str();
  c->add_option("--schedule", flags->schedule, "changes to each row's schedule, key=value,…");
  c->add_option("--filter", flags->filter, "only rows whose name contains this, for instance '64x64x'");
  c->add_option("--sets", flags->sets, "index sets in one graph")->check(CLI::Range(1, 1000))->capture_default_str();
  c->add_option("--replays", flags->replays, "graph replays; the median counts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->add_option("--seed", flags->seed, "of pool, queries and indices")->capture_default_str();
  c->add_flag("--json", flags->json, "one JSON array on stdout");
  c->footer(
      "Examples:\n  nereid bench --device cuda\n  nereid bench --device cuda --filter 'MODEL1 256x' --limits chip\n"
      "Ratio is FlashMLA's Hopper kernel on an H200 (times of docs/performance-log.md) over ours; it means something on that "
      "chip only.");
  c->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nereid::tools
