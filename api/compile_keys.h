// `nereid compile`: a kernel given by key=value words to text, bytes and resources.
#pragma once
#include <string>
#include <vector>

#include "api/compile_kernel.h"

namespace nereid::api {

struct CompileKeysOptions {
  std::string target = "sm_120a";
  Limits limits = Limits::kSm120;
  std::string schedule;  // changes, key=value,…
  std::string emit;      // tile, gpu, llvm, ptx, cubin; empty: cubin
};
inline constexpr const char* kEmitForms = "tile, gpu, llvm, ptx, cubin";

struct CompiledKeys {
  Artifact artifact;
  std::string form;  // what was asked for: text, or the bytes of the cubin
};

// Errors: words without '=', keys given twice, and everything that makeSpec and compileKernel refuse.
Result<KernelSpec> specFromKeys(const std::string& kernel, const std::vector<std::string>& words,
                                const CompileKeysOptions& options);
Result<CompiledKeys> compileKeys(const KernelSpec& spec, const CompileKeysOptions& options);

// What a schedule means for a problem: blocks, warps, bytes of shared memory, as lines of text.
std::string explainSchedule(const KernelSpec& spec);

// Written beside and renamed. Failures are environment errors that name the path.
Status writeFile(const std::string& path, const std::string& bytes);

}  // namespace nereid::api
