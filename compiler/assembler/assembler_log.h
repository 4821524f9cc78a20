// What assemblers say, as data. nvJitLink -verbose and ptxas -v print the same lines.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/artifact/artifact.h"
#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::compiler {

// Registers, spill bytes (stores + loads), shared and stack bytes: each the maximum over the kernels in the log, -1 where the log
// does not say.
Resources parseResources(std::string_view log);

// The lines with warnings, such as C7506 (setmaxnreg is ignored because the kernel has a call).
std::vector<std::string> parseWarnings(std::string_view log);

// Counts instruction classes in PTX text: "mma", "ldmatrix", "stmatrix", "cp.async", "cp.async.bulk", "ex2", "cvt.e4m3",
// "ld.global", "st.global", "ld.shared", "st.shared", "ld.local", "st.local", "bar", "mbarrier", "shfl", "red". Static
// occurrences, not executions.
std::map<std::string, int> countInstructions(std::string_view ptx);

// The error for PTX that an assembler does not take.
Diag rejectedPtx(const std::string& assembler, const Target& target, const std::string& log, const char* stage);

}  // namespace nereid::compiler
