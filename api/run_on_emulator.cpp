// Lowers each kernel to its GPU module, loads it into the emulator, runs it on the plan's own tensors.
#include "api/run_on_emulator.h"

#include <map>

#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/dsl/dsl_impl.h"
#include "compiler/emulator/emulate.h"
#include "compiler/emulator/load_program.h"
#include "compiler/pipeline/tile_to_gpu.h"
#include "kernels_dsl/programs/programs.h"
#include "kernels_dsl/spec/launch/arguments.h"
#include "kernels_dsl/spec/launch/grid.h"

namespace nereid::api {
namespace {

using kernels::KernelCall;
using kernels::Tensor;

Status runCall(const KernelCall& call, const Target& target, uint64_t seed,
               const std::vector<emulator::EmulatorBuffer>& buffers) {
  NEREID_TRY(const int64_t grid, kernels::gridSize(call.problem, call.schedule, call.size));
  if (grid == 0) return {};
  const KernelSpec spec{kernels::kernelOf(call.problem), kernels::fieldsOf(call.problem), call.schedule, target, "nvptx"};
  NEREID_TRY(dsl::Program program, kernels::buildProgram(spec));
  dsl::Program::Impl& impl = program.impl();
  mlir::DialectRegistry registry;
  compiler::registerCodegenDialects(registry);
  impl.context->appendDialectRegistry(registry);
  compiler::Trace trace;
  NEREID_TRY(const gpu::LaunchShape shape, compiler::lowerTileToGpu(*impl.module, call.schedule, target, trace));
  NEREID_CHECK_OK(compiler::lowerToLlvmDialect(*impl.module, trace));
  NEREID_TRY(auto loaded, emulator::loadProgram(*impl.module, target, impl.kernel, trace));

  std::map<std::string, void*> pointers;
  for (const emulator::EmulatorBuffer& b : buffers) pointers[b.name] = b.data;
  NEREID_TRY(auto slots, kernels::bindArguments(impl.args, call, pointers));
  const emulator::EmulatorLaunch launch{grid, shape.threads, shape.shared_bytes, slots};
  NEREID_TRY(const emulator::EmulationReport report, emulator::emulate(*loaded, launch, buffers, {.seed = seed}));
  if (!report.clean())
    return Diag{Code::kCheckFailed, "the emulator has findings\n" + report.text(), spec.kernel,
                "docs/emulator.md says how to read them"};
  return {};
}

}  // namespace

Status runOnEmulator(kernels::CallPlan& plan, const Target& target, uint64_t seed) {
  std::map<std::string, Tensor> scratch;
  std::vector<emulator::EmulatorBuffer> buffers;
  auto add = [&](const std::string& name, Tensor& t, bool writable, bool initialised) {
    buffers.push_back({t.data(), static_cast<size_t>(t.bytes()), writable, name, initialised});
  };
  for (auto& [name, t] : plan.inputs) add(name, t, false, true);
  for (auto& [name, t] : plan.outputs) add(name, t, true, true);
  for (const auto& [name, type] : plan.scratch) {
    NEREID_TRY(scratch[name], Tensor::allocate(type.dtype, type.shape));
    add(name, scratch[name], true, true);
  }
  for (const KernelCall& call : plan.calls) NEREID_CHECK_OK(runCall(call, target, seed, buffers));
  return {};
}

}  // namespace nereid::api
