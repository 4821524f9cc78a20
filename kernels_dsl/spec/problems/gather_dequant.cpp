// Keys of gather_dequant.
#include "kernels_dsl/spec/problems/gather_dequant.h"

#include "kernels_dsl/spec/problems/field_binder.h"

namespace nereid::kernels {
namespace {

FieldBinder bind(GatherDequantProblem& p) {
  FieldBinder b(GatherDequantProblem::kKernel);
  b.layout("layout", p.layout, Presence::kRequired);
  b.number("page_size", p.page_size, 1, kMaxPageSize, Presence::kRequired);
  b.index("index", p.index);
  return b;
}

}  // namespace

Result<GatherDequantProblem> GatherDequantProblem::parse(const ProblemFields& fields) {
  GatherDequantProblem p;
  NEREID_CHECK_OK(bind(p).parse(fields));
  return p;
}

ProblemFields GatherDequantProblem::fields() const {
  GatherDequantProblem copy = *this;
  return bind(copy).print();
}

}  // namespace nereid::kernels
