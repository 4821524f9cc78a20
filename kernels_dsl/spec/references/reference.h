// What each kernel means, as scalar code in double precision: the yardstick of tests. Slow on purpose where that is clearer.
#pragma once
#include "kernels_dsl/spec/case.h"

namespace nereid::kernels {

// Outputs under the names, types and shapes of outputTypes(), rounded once from double where they are rounded at all.
Result<TensorMap> computeReference(const Call& call);

Result<TensorMap> referenceSparseDecode(const DecodeCase& c);
Result<TensorMap> referenceCombine(const CombineCase& c);
Result<TensorMap> referenceGatherDequant(const DequantCase& c);
Result<TensorMap> referencePageSplit(const SplitCase& c);
Result<TensorMap> referencePageMark(const MarkCase& c);
Result<TensorMap> referencePackKv(const PackCase& c);

}  // namespace nereid::kernels
