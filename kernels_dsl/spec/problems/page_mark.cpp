// Keys of page_mark.
#include "kernels_dsl/spec/problems/page_mark.h"

#include "kernels_dsl/spec/problems/field_binder.h"

namespace nereid::kernels {
namespace {

FieldBinder bind(PageMarkProblem& p) {
  FieldBinder b(PageMarkProblem::kKernel);
  b.number("page_size", p.page_size, 1, kMaxPageSize, Presence::kRequired);
  b.index("index", p.index);
  b.flag("lengths", p.lengths);
  return b;
}

}  // namespace

Result<PageMarkProblem> PageMarkProblem::parse(const ProblemFields& fields) {
  PageMarkProblem p;
  NEREID_CHECK_OK(bind(p).parse(fields));
  return p;
}

ProblemFields PageMarkProblem::fields() const {
  PageMarkProblem copy = *this;
  return bind(copy).print();
}

}  // namespace nereid::kernels
