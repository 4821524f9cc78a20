// Keys of combine.
#include "kernels_dsl/spec/problems/combine.h"

#include "kernels_dsl/spec/problems/field_binder.h"

namespace nereid::kernels {
namespace {

FieldBinder bind(CombineProblem& p) {
  FieldBinder b(CombineProblem::kKernel);
  b.number("heads", p.heads, 1, kMaxHeads, Presence::kRequired);
  b.number("head_dim_v", p.head_dim_v, 1, kMaxHeadDim);
  b.number("splits", p.splits, 1, kMaxSplits, Presence::kRequired);
  b.number("s_q", p.s_q, 1, kMaxQueries);
  b.flag("sink", p.sink);
  b.lse(p.lse);
  return b;
}

}  // namespace

Result<CombineProblem> CombineProblem::parse(const ProblemFields& fields) {
  CombineProblem p;
  NEREID_CHECK_OK(bind(p).parse(fields));
  if (!p.sink) p.lse.sink = false;  // nothing to take in: the same kernel
  return p;
}

ProblemFields CombineProblem::fields() const {
  CombineProblem copy = *this;
  return bind(copy).print();
}

}  // namespace nereid::kernels
