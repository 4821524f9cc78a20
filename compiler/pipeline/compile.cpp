// The two ways down, GPU and CPU.
#include "compiler/pipeline/compile.h"

#include <fmt/format.h>

#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/codegen/module_to_ptx.h"
#include "compiler/conversion/cpu/lower_tile_to_host.h"
#include "compiler/dsl/dsl_impl.h"
#include "compiler/host/host_code.h"
#include "compiler/host/lower_to_host_llvm.h"
#include "compiler/pipeline/tile_to_gpu.h"

namespace nereid::compiler {
namespace {

// An assembler that ignores setmaxnreg compiles every role for the launch's registers; the kernel then spills in its inner loop.
constexpr const char* kIgnoredBudget = "setmaxnreg";

Status compileGpu(mlir::ModuleOp module, Artifact& a, const CompileOptions& options, Trace& trace) {
  const Target& target = a.spec.target;
  NEREID_TRY(gpu::LaunchShape shape, lowerTileToGpu(module, a.spec.schedule, target, trace));
  a.threads = shape.threads;
  a.dynamic_shared_bytes = shape.shared_bytes;
  NEREID_CHECK_OK(lowerToLlvmDialect(module, trace));
  NEREID_TRY(a.ptx, moduleToPtx(module, target, trace));
  if (!options.assemble) return {};
  StageTimer timer(trace, "assemble");
  NEREID_TRY(Assembled assembled, assemble(a.ptx, target, options.assembler));
  for (const std::string& warning : assembled.warnings)
    if (warning.find(kIgnoredBudget) != std::string::npos)
      return Diag{Code::kUnsupported, "the assembler ignored the register budgets: " + warning, "schedule",
                  "give the roles other budgets, or none"};
  a.cubin = std::move(assembled.cubin);
  a.resources = std::move(assembled.resources);
  // What the block asks for at launch counts as shared memory too.
  a.resources.shared_bytes = std::max(0, a.resources.shared_bytes) + a.dynamic_shared_bytes;
  return {};
}

Status compileHost(mlir::ModuleOp module, Artifact& a, Trace& trace) {
  if (trace.wants("tile")) llvm::raw_string_ostream(trace.dumps["tile"]) << module;
  {
    StageTimer timer(trace, "tile");
    NEREID_CHECK_OK(cpu::lowerTileToHost(module));
  }
  NEREID_CHECK_OK(lowerToHostLlvm(module, trace));
  NEREID_TRY(HostCode code, compileForHost(module, a.symbol, trace));
  a.host_code = code.code;
  a.cpu_entry = code.entry;
  return {};
}

}  // namespace

Result<Artifact> compile(dsl::Program program, const KernelSpec& spec, const CompileOptions& options) {
  dsl::Program::Impl& impl = program.impl();
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  impl.context->appendDialectRegistry(registry);
  impl.context->loadAllAvailableDialects();

  Trace trace;
  trace.wanted = options.dumps;
  Artifact a;
  a.spec = spec;
  a.args = impl.args;
  a.symbol = impl.kernel;
  NEREID_CHECK_OK(spec.target.isGpu() ? compileGpu(*impl.module, a, options, trace) : compileHost(*impl.module, a, trace));
  a.stages_ms = std::move(trace.stages_ms);
  a.dumps = std::move(trace.dumps);
  return a;
}

}  // namespace nereid::compiler
