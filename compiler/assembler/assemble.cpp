#include "compiler/assembler/assemble.h"

#include "compiler/assembler/assembler_log.h"
#include "compiler/assembler/nvjitlink.h"
#include "compiler/assembler/ptxas.h"

namespace nereid::compiler {
namespace {

// The route that is taken, opened; kAuto takes the first that is there. Exactly one member is set.
// ptxas comes first: nvJitLink compiles a module as one of several to be linked, and there its ptxas ignores setmaxnreg (C7504)
// and spills where the whole-program compilation does not (13.0, one kernel: 660 bytes a thread against 0).
struct Chosen {
  std::shared_ptr<const NvJitLink> nvjitlink;
  std::string ptxas;
  bool driver = false;
};

Result<Chosen> choose(const AssembleOptions& options) {
  using enum AssemblerRoute;
  std::string missing;
  Diag first;
  auto note = [&](const Diag& diag) {
    if (missing.empty()) first = diag;
    missing += (missing.empty() ? "" : "; ") + diag.what;
  };
  if (options.route == kAuto || options.route == kPtxas) {
    Result<std::string> program = findPtxas(options.cuda_home);
    if (program) return Chosen{nullptr, *program, false};
    note(program.diag());
  }
  if (options.route == kAuto || options.route == kNvJitLink) {
    Result<std::shared_ptr<const NvJitLink>> library = NvJitLink::open(options.cuda_home);
    if (library) return Chosen{*library, "", false};
    note(library.diag());
  }
  if (options.route == kAuto || options.route == kDriver) {
    if (options.driver) return Chosen{nullptr, "", true};
    note(Diag{Code::kEnvironment, "no CUDA driver to link with", "assemble", "install the NVIDIA driver"});
  }
  first.what = missing;
  return first;
}

}  // namespace

Result<Assembled> assemble(const std::string& ptx, const Target& target, const AssembleOptions& options) {
  NEREID_TRY(Chosen chosen, choose(options));
  Result<Assembled> result = chosen.nvjitlink        ? chosen.nvjitlink->assemble(ptx, target)
                             : !chosen.ptxas.empty() ? assembleWithPtxas(chosen.ptxas, ptx, target)
                                                     : options.driver(ptx, target);
  if (!result) return result;
  result->resources.instructions = countInstructions(ptx);
  result->warnings = parseWarnings(result->log);
  return result;
}

Result<std::string> assemblerVersion(const AssembleOptions& options) {
  NEREID_TRY(Chosen chosen, choose(options));
  if (chosen.nvjitlink) return chosen.nvjitlink->version();
  if (!chosen.ptxas.empty()) return ptxasVersion(chosen.ptxas);
  return std::string("driver");
}

}  // namespace nereid::compiler
