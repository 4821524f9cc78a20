// The problem of page_mark: a byte a page that says whether an index selects a token of it.
#pragma once
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

struct PageMarkProblem {
  static constexpr const char* kKernel = "page_mark";

  int64_t page_size = 0;
  IndexType index = IndexType::kI32;
  bool lengths = false;  // lanes at or past a row's length mark nothing

  static Result<PageMarkProblem> parse(const ProblemFields& fields);
  ProblemFields fields() const;
  bool operator==(const PageMarkProblem&) const = default;
};

}  // namespace nereid::kernels
