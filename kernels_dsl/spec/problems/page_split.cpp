// Keys of page_split.
#include "kernels_dsl/spec/problems/page_split.h"

#include <fmt/format.h>

#include "kernels_dsl/spec/problems/field_binder.h"

namespace nereid::kernels {
namespace {

FieldBinder bind(PageSplitProblem& p) {
  FieldBinder b(PageSplitProblem::kKernel);
  b.layout("layout", p.layout);
  b.number("page_size", p.page_size, 1, kMaxPageSize, Presence::kRequired);
  b.number("dst_page_size", p.dst_page_size, 1, kMaxPageSize);
  b.flag("marks", p.marks);
  return b;
}

}  // namespace

Result<PageSplitProblem> PageSplitProblem::parse(const ProblemFields& fields) {
  PageSplitProblem p;
  NEREID_TRY(p.layout, findLayout("MODEL1"));
  const FieldBinder b = bind(p);
  NEREID_CHECK_OK(b.parse(fields));
  if (p.page_size % p.dst_page_size)
    return b.error(fmt::format("page_size is {}, no multiple of dst_page_size {}", p.page_size, p.dst_page_size), "page_size",
                   fmt::format("pass a multiple of {}", p.dst_page_size));
  return p;
}

ProblemFields PageSplitProblem::fields() const {
  PageSplitProblem copy = *this;
  return bind(copy).print();
}

}  // namespace nereid::kernels
