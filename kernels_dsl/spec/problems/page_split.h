// The problem of page_split: copies each page into pages of fewer tokens, for libraries that know one page size.
#pragma once
#include "kernels_dsl/spec/kv_layout.h"
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

struct PageSplitProblem {
  static constexpr const char* kKernel = "page_split";

  const KvLayout* layout = nullptr;  // MODEL1 if not given
  int64_t page_size = 0;             // a multiple of dst_page_size; equal: there is nothing to copy
  int64_t dst_page_size = 64;
  bool marks = false;  // copy only pages whose mask byte is not 0

  int64_t ratio() const { return page_size / dst_page_size; }  // destination pages of a source page

  static Result<PageSplitProblem> parse(const ProblemFields& fields);
  ProblemFields fields() const;
  bool operator==(const PageSplitProblem&) const = default;
};

}  // namespace nereid::kernels
