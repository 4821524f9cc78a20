// The program ptxas, for machines without libnvJitLink.
#pragma once
#include "compiler/assembler/assemble.h"

namespace nereid::compiler {

// Path of ptxas, or kEnvironment.
Result<std::string> findPtxas(const std::string& cuda_home);
Result<std::string> ptxasVersion(const std::string& program);  // "ptxas 13.0.88"
// Runs the program on temporary files, which are removed on every way out.
Result<Assembled> assembleWithPtxas(const std::string& program, const std::string& ptx, const Target& target);

}  // namespace nereid::compiler
