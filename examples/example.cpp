// Flags and checks of the examples.
#include "examples/example.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace example {
using namespace nereid;

int64_t Example::size(const std::string& name, int64_t value) {
  known_.insert(name);
  const auto given = sizes_.find(name);
  return given == sizes_.end() ? value : given->second;
}

Result<Schedule> Example::schedule(const std::string& text) const {
  NEREID_TRY(const Schedule base, parseSchedule(text, {}));
  return parseSchedule(schedule_, base);
}

Status Example::compile(dsl::Program program, const Schedule& schedule) const {
  NEREID_TRY(const api::Limits limits, api::parseLimits(limits_));
  NEREID_TRY(const Target target, findTarget(target_));
  compiler::CompileOptions options;
  if (!emit_.empty()) options.dumps = {emit_};
  options.assemble = emit_.empty();
  NEREID_TRY(const Artifact a, api::compileProgram(std::move(program), schedule, api::limitTarget(target, limits), options));
  if (emit_.empty() && !target.isGpu()) return std::printf("%s for %s\n", name_.c_str(), target_.c_str()), Status();
  if (emit_.empty()) {
    std::printf("%s for %s: %d registers, %d bytes of spills, %d bytes of shared memory, %d threads\n", name_.c_str(),
                target_.c_str(), a.resources.registers, a.resources.spill_bytes, a.resources.shared_bytes, a.threads);
    return {};
  }
  const auto text = a.dumps.find(emit_);
  if (emit_ != "ptx" && text == a.dumps.end())
    return Diag{Code::kUsage, "no stage is named " + emit_, "--emit",
                "tile, gpu, llvm, ptx, or a stage of the table in compiler/pipeline/tile_to_gpu.cpp"};
  std::puts(emit_ == "ptx" ? a.ptx.c_str() : text->second.c_str());
  return {};
}

Status Example::run(dsl::Program program, const Schedule& schedule, int64_t grid, const api::Arguments& arguments, double limit,
                    const std::function<double()>& error) const {
  for (const auto& [name, value] : sizes_)
    if (!known_.contains(name)) {
      std::string names;
      for (const std::string& n : known_) names += (names.empty() ? "" : ", ") + n;
      return Diag{Code::kUsage, "unknown size " + name, "command line", "sizes are " + names};
    }
  if (compile_only_ || !emit_.empty()) return compile(std::move(program), schedule);
  NEREID_TRY(const api::Device device, api::findDevice(device_));
  NEREID_TRY(const api::Limits limits, api::parseLimits(limits_));
  if (!device.notice.empty()) std::fprintf(stderr, "%s: notice: %s\n", name_.c_str(), device.notice.c_str());
  const api::RunOptions options{.device = device, .limits = limits, .target = target_, .repeat = repeat_, .seed = seed_};
  NEREID_TRY(const auto time_us, api::runProgram(std::move(program), schedule, grid, arguments, options));
  const double e = error();
  limit = limit_.value_or(limit);
  const bool ok = e <= limit;
  std::printf("%s on %s: error %.1e (limit %.1e)", name_.c_str(), device.text.c_str(), e, limit);
  if (time_us) std::printf(", %.2f us", *time_us);
  std::printf("%s\n", ok ? "" : "  WRONG");
  if (ok) return {};
  return Diag{Code::kCheckFailed, "the result is outside its limit", name_, "report this run"};
}

int start(int argc, char** argv, const char* purpose, Status (*body)(Example&)) {
  Example e;
  CLI::App app{purpose};
  e.name_ = argc > 0 ? std::string(argv[0]).substr(std::string(argv[0]).find_last_of('/') + 1) : "example";
  std::vector<std::string> words;
  app.add_option("SIZES", words, "sizes of the problem, as name=value words");
  app.add_option("--device", e.device_, "auto, cpu, emu (the GPU's code on the CPU, checked), cuda, cuda:N")
      ->capture_default_str();
  app.add_option("--target", e.target_, "target of emu, --compile and --emit")->capture_default_str();
  app.add_option("--limits", e.limits_, "shared memory that the schedule may use: chip or sm_120")->capture_default_str();
  app.add_option("--schedule", e.schedule_, "changes to the schedule, key=value,…");
  app.add_option("--repeat", e.repeat_, "GPU: time this many launches, report the median")->check(CLI::Range(0, 1000000));
  app.add_option("--seed", e.seed_, "emu: order of warps and of asynchronous copies");
  app.add_option("--limit", e.limit_, "largest error that passes; default: the example's own");
  app.add_flag("--compile", e.compile_only_, "compile for --target, print what the kernel needs, run nothing");
  app.add_option("--emit", e.emit_, "print a stage for --target: tile, gpu, llvm, ptx, or one of its own name; run nothing");
  const auto fail = [&](const Diag& diag) {
    std::fprintf(stderr, "%s: %s\n", e.name_.c_str(), diag.text().c_str());
    return exitCode(diag.code);
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail({Code::kUsage, error.what(), "command line", "--help lists the flags"});
  }
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    char* end = nullptr;
    const long long value = equals == std::string::npos ? 0 : std::strtoll(word.c_str() + equals + 1, &end, 10);
    if (value < 1 || *end)
      return fail({Code::kUsage, "'" + word + "' is no size", "command line", "write NAME=VALUE, from 1 on"});
    e.sizes_[word.substr(0, equals)] = value;
  }
  const Status status = body(e);
  return status.ok() ? 0 : fail(status.diag());
}

std::vector<float> uniform(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = static_cast<float>(random() >> 40) * 0x1p-23f - 1.0f;
  return v;
}

double worstError(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double squares = 0, worst = 0;
  for (double x : expected) squares += x * x;
  const double rms = std::sqrt(squares / static_cast<double>(std::max<size_t>(1, expected.size())));
  for (size_t i = 0; i < got.size(); i++) {
    const double difference = std::abs(got[i] - expected[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    if (difference > 0) worst = std::max(worst, difference / (std::abs(expected[i]) + rms));
  }
  return worst;
}

std::vector<int64_t> checkedRows(int64_t rows, int64_t products) {
  constexpr int64_t kProducts = int64_t{1} << 25;
  const int64_t count = std::min(rows, std::max<int64_t>(16, kProducts / products));
  std::vector<int64_t> checked(static_cast<size_t>(count));
  for (int64_t i = 1; i < count; i++) checked[static_cast<size_t>(i)] = i * (rows - 1) / (count - 1);
  return checked;
}

}  // namespace example
