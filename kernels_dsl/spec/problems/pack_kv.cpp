// Keys of pack_kv.
#include "kernels_dsl/spec/problems/pack_kv.h"

#include "kernels_dsl/spec/problems/field_binder.h"

namespace nereid::kernels {
namespace {

FieldBinder bind(PackKvProblem& p) {
  FieldBinder b(PackKvProblem::kKernel);
  b.layout("layout", p.layout, Presence::kRequired);
  b.number("page_size", p.page_size, 1, kMaxPageSize, Presence::kRequired);
  b.index("index", p.index);
  b.flag("pow2", p.pow2);
  return b;
}

}  // namespace

Result<PackKvProblem> PackKvProblem::parse(const ProblemFields& fields) {
  PackKvProblem p;
  NEREID_CHECK_OK(bind(p).parse(fields));
  // One key a kernel: where the layout decides, the flag follows it.
  if (!p.layout->hasScales()) p.pow2 = false;
  if (p.layout->hasScales() && p.layout->pow2Scales()) p.pow2 = true;
  return p;
}

ProblemFields PackKvProblem::fields() const {
  PackKvProblem copy = *this;
  return bind(copy).print();
}

}  // namespace nereid::kernels
