// Keys to a spec, a spec to the asked form.
#include "api/compile_keys.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "kernels_dsl/spec/heuristic.h"

namespace nereid::api {

Result<KernelSpec> specFromKeys(const std::string& kernel, const std::vector<std::string>& words,
                                const CompileKeysOptions& options) {
  NEREID_TRY(const Target target, findTarget(options.target));
  ProblemFields fields;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return Diag{Code::kUsage, fmt::format("'{}' is no key=value", word), "compile " + kernel,
                  "write keys as key=value, for instance heads=64"};
    if (!fields.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      return Diag{Code::kUsage, fmt::format("key {} is given twice", word.substr(0, equals)), "compile " + kernel,
                  "give each key once"};
  }
  NEREID_TRY(const kernels::Problem problem, kernels::parseProblem(kernel, fields));
  return makeSpec(problem, limitTarget(target, options.limits), options.schedule);
}

Result<CompiledKeys> compileKeys(const KernelSpec& spec, const CompileKeysOptions& options) {
  const std::string form = options.emit.empty() ? "cubin" : options.emit;
  compiler::CompileOptions compile_options;
  compile_options.dumps = {form};
  compile_options.assemble = form == "cubin";
  if (form == "cubin" && !spec.target.isGpu())
    return Diag{Code::kUsage, "the target cpu has no cubin", "--emit", "use --emit tile or llvm, or a GPU target"};
  NEREID_TRY(Artifact artifact, compileKernel(spec, compile_options));
  CompiledKeys out{.artifact = std::move(artifact), .form = ""};
  if (form == "ptx")
    out.form = out.artifact.ptx;
  else if (form == "cubin")
    out.form.assign(out.artifact.cubin.begin(), out.artifact.cubin.end());
  else if (auto it = out.artifact.dumps.find(form); it != out.artifact.dumps.end())
    out.form = it->second;
  else
    return Diag{Code::kUsage, fmt::format("no form '{}' of a kernel for {}", form, spec.target.name), "--emit",
                fmt::format("accepted: {}", kEmitForms)};
  return out;
}

std::string explainSchedule(const KernelSpec& spec) {
  const Schedule& s = spec.schedule;
  std::string text = "schedule   " + s.text() + "\n";
  text += fmt::format("block      {} warps, {} threads\n", s.totalWarps(), s.totalWarps() * 32);
  for (const Role& r : s.roles) {
    std::string dots;
    for (const std::string& d : r.dots) dots += " " + d;
    text += fmt::format("role       {}: {} warps{}{}\n", r.name, r.warps, dots.empty() ? ", gathers rows" : ", dots" + dots,
                        r.registers ? fmt::format(", {} registers a thread", r.registers) : "");
  }
  if (auto problem = kernels::parseProblem(spec.kernel, spec.problem); problem)
    if (const auto* decode = std::get_if<kernels::SparseDecodeProblem>(&*problem); decode && !s.roles.empty()) {
      const int64_t bytes = kernels::estimateSharedBytes(*decode, s);
      text += fmt::format("shared     about {} bytes a block, {} of {} allows {}; {} blocks an SM by shared memory\n", bytes,
                          s.stages == 1 ? "1 stage" : fmt::format("{} stages", s.stages), spec.target.name,
                          spec.target.shared_per_block, spec.target.shared_per_sm / (bytes + kSharedReservedPerBlock));
    }
  return text;
}

Status writeFile(const std::string& path, const std::string& bytes) {
  const std::string part = fmt::format("{}.{}.part", path, getpid());
  auto failed = [&] {
    const std::string reason = std::strerror(errno);
    std::remove(part.c_str());
    return Diag{Code::kEnvironment, fmt::format("cannot write {}: {}", path, reason), path,
                "check that the folder exists, is writable and has room"};
  };
  std::FILE* f = std::fopen(part.c_str(), "wb");
  if (!f) return failed();
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  if (std::fclose(f) != 0 || !written) return failed();
  if (std::rename(part.c_str(), path.c_str()) != 0) return failed();
  return {};
}

}  // namespace nereid::api
