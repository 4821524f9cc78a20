// Programs of kernels_dsl through compiler/pipeline.
#include "api/compile_kernel.h"

#include <fmt/format.h>

#include "kernels_dsl/programs/programs.h"
#include "kernels_dsl/spec/heuristic.h"

namespace nereid::api {

Status checkCodegen(std::string_view codegen) {
  if (codegen == "nvptx") return {};
  if (codegen == "nvrtc")
    return Diag{Code::kUnsupported, "the code generator nvrtc is not in this build", "--codegen", "use --codegen nvptx"};
  return Diag{Code::kUsage, fmt::format("unknown code generator '{}'", codegen), "--codegen", "accepted: nvptx, nvrtc"};
}

Result<KernelSpec> makeSpec(const kernels::Problem& problem, const Target& target, std::string_view changes) {
  KernelSpec spec;
  spec.kernel = kernels::kernelOf(problem);
  spec.problem = kernels::fieldsOf(problem);
  spec.target = target;
  NEREID_TRY(spec.schedule, parseSchedule(changes, kernels::chooseSchedule(problem, target)));
  return spec;
}

Result<Artifact> compileKernel(const KernelSpec& spec, const compiler::CompileOptions& options) {
  NEREID_TRY(dsl::Program program, kernels::buildProgram(spec));
  return compiler::compile(std::move(program), spec, options);
}

}  // namespace nereid::api
