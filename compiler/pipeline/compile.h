// compile: a recorded program and a spec to an artifact. The seam that the engine's "spec in, artifact out" interface is built
// on.
#pragma once
#include <set>
#include <string>

#include "compiler/assembler/assemble.h"
#include "compiler/dsl/dsl.h"
#include "runtime/artifact/artifact.h"
#include "runtime/base/result.h"

namespace nereid::compiler {

struct CompileOptions {
  std::set<std::string>
      dumps;  // names of stages whose text goes to Artifact::dumps: tile, gpu, llvm, ptx or a stage's own name; "*": all
  bool assemble = true;  // false: stop at PTX, without an assembler
  AssembleOptions assembler;
};

// GPU targets: tile IR → roles, layouts → LLVM → PTX → cubin. cpu: tile IR → loops → this machine's code.
// The program is consumed. Thread-safe for different programs. Errors: a schedule or op that the target cannot run (kUnsupported,
// before code is generated), a missing assembler (kEnvironment), spilled register budgets that the assembler ignored.
// stages_ms: tile, mlir, check, translate, optimise, codegen, assemble.
Result<Artifact> compile(dsl::Program program, const KernelSpec& spec, const CompileOptions& options = {});

}  // namespace nereid::compiler
