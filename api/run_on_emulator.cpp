// Lowers each kernel to its GPU module, loads it into the emulator, runs it on the caller's own memory.
#include "api/run_on_emulator.h"

#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/dsl/dsl_impl.h"
#include "compiler/emulator/emulate.h"
#include "compiler/emulator/load_program.h"
#include "compiler/pipeline/tile_to_gpu.h"
#include "kernels_dsl/spec/launch/plan_call.h"
#include "kernels_dsl/spec/tensor.h"

namespace nereid::api {
namespace {

Status runLaunch(KernelLaunch l, uint64_t seed, const std::vector<emulator::EmulatorBuffer>& buffers) {
  if (l.grid == 0) return {};
  dsl::Program::Impl& impl = l.program.impl();
  mlir::DialectRegistry registry;
  compiler::registerCodegenDialects(registry);
  impl.context->appendDialectRegistry(registry);
  compiler::Trace trace;
  NEREID_TRY(const gpu::LaunchShape shape, compiler::lowerTileToGpu(*impl.module, l.spec.schedule, l.spec.target, trace));
  NEREID_CHECK_OK(compiler::lowerToLlvmDialect(*impl.module, trace));
  NEREID_TRY(auto loaded, emulator::loadProgram(*impl.module, l.spec.target, impl.kernel, trace));

  std::map<std::string, void*> pointers;
  for (const emulator::EmulatorBuffer& b : buffers) pointers[b.name] = b.data;
  NEREID_TRY(auto slots, kernels::bindArguments(impl.args, l.spec.kernel, l.numbers, pointers));
  const emulator::EmulatorLaunch launch{l.grid, shape.threads, shape.shared_bytes, slots};
  NEREID_TRY(const emulator::EmulationReport report, emulator::emulate(*loaded, launch, buffers, {.seed = seed}));
  if (!report.clean())
    return Diag{Code::kCheckFailed, "the emulator has findings\n" + report.text(), l.spec.kernel,
                "docs/emulator.md says how to read them"};
  return {};
}

}  // namespace

Status runOnEmulator(std::vector<KernelLaunch> launches, const std::map<std::string, HostBuffer>& buffers, uint64_t seed) {
  std::vector<kernels::Tensor> scratch;
  std::vector<emulator::EmulatorBuffer> emulated;
  for (const auto& [name, buffer] : buffers) {
    void* data = buffer.data;
    if (!data) {
      NEREID_TRY(auto t, kernels::Tensor::allocate(kernels::DType::kU8, {static_cast<int64_t>(buffer.bytes)}));
      data = t.data();
      scratch.push_back(std::move(t));
    }
    emulated.push_back({data, buffer.bytes, buffer.writable, name, true});
  }
  for (KernelLaunch& l : launches) NEREID_CHECK_OK(runLaunch(std::move(l), seed, emulated));
  return {};
}

}  // namespace nereid::api
