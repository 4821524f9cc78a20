// A kernel by name and keys to an artifact: where the kernels' programs and the compiler meet.
#pragma once
#include <optional>
#include <string>

#include "api/device.h"
#include "compiler/pipeline/compile.h"
#include "kernels_dsl/spec/problems/problem.h"
#include "runtime/artifact/artifact.h"

namespace nereid::api {

// The only code generator of this build is "nvptx"; others are refused by name.
Status checkCodegen(std::string_view codegen);

// The spec of a problem: its schedule is `schedule` if given, else the heuristic's with the changes of `changes` (key=value,…).
Result<KernelSpec> makeSpec(const kernels::Problem& problem, const Target& target, std::string_view changes);

// Records the program and compiles it.
Result<Artifact> compileKernel(const KernelSpec& spec, const compiler::CompileOptions& options = {});

}  // namespace nereid::api
