// Any kernel's problem: the table of kernels by name.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels_dsl/spec/problems/combine.h"
#include "kernels_dsl/spec/problems/gather_dequant.h"
#include "kernels_dsl/spec/problems/pack_kv.h"
#include "kernels_dsl/spec/problems/page_mark.h"
#include "kernels_dsl/spec/problems/page_split.h"
#include "kernels_dsl/spec/problems/sparse_decode.h"

namespace nereid::kernels {

using Problem =
    std::variant<SparseDecodeProblem, CombineProblem, GatherDequantProblem, PageSplitProblem, PageMarkProblem, PackKvProblem>;

// "sparse_decode", "combine", … in the order of Problem.
const std::vector<std::string>& kernelNames();
// Keys of `nereid compile KERNEL` to a problem. Unknown kernels and keys are usage errors that list the known ones.
Result<Problem> parseProblem(std::string_view kernel, const ProblemFields& fields);
const char* kernelOf(const Problem& problem);
ProblemFields fieldsOf(const Problem& problem);

}  // namespace nereid::kernels
