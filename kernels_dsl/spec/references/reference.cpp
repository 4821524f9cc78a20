// The reference of each call.
#include "kernels_dsl/spec/references/reference.h"

namespace nereid::kernels {
namespace {

struct Dispatch {
  Result<TensorMap> operator()(const DecodeCase& c) const { return referenceSparseDecode(c); }
  Result<TensorMap> operator()(const CombineCase& c) const { return referenceCombine(c); }
  Result<TensorMap> operator()(const DequantCase& c) const { return referenceGatherDequant(c); }
  Result<TensorMap> operator()(const SplitCase& c) const { return referencePageSplit(c); }
  Result<TensorMap> operator()(const MarkCase& c) const { return referencePageMark(c); }
  Result<TensorMap> operator()(const PackCase& c) const { return referencePackKv(c); }
};

}  // namespace

Result<TensorMap> computeReference(const Call& call) { return std::visit(Dispatch{}, call); }

}  // namespace nereid::kernels
