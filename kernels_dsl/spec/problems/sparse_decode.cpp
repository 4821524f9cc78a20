// Keys of sparse_decode and which of them fit together.
#include "kernels_dsl/spec/problems/sparse_decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels_dsl/spec/problems/field_binder.h"

namespace nereid::kernels {
namespace {

constexpr int64_t kDefaultHeadDimV = 512;

FieldBinder bind(SparseDecodeProblem& p) {
  FieldBinder b(SparseDecodeProblem::kKernel);
  b.layout("layout", p.source.layout, Presence::kRequired);
  b.number("page_size", p.source.page_size, 1, kMaxPageSize);
  b.number("topk", p.source.topk, 1, kMaxTopk);
  b.number("heads", p.heads, 1, kMaxHeads, Presence::kRequired);
  b.number("d_qk", p.d_qk, 1, kMaxHeadDim);
  b.number("head_dim_v", p.head_dim_v, 1, kMaxHeadDim);
  b.number("s_q", p.s_q, 1, kMaxQueries);
  b.index("index", p.source.index);
  b.flag("lengths", p.source.lengths);
  b.flag("sink", p.sink);
  b.layout("extra_layout", p.extra.layout);
  b.number("extra_page_size", p.extra.page_size, 0, kMaxPageSize);
  b.number("extra_topk", p.extra.topk, 0, kMaxTopk);
  b.index("extra_index", p.extra.index);
  b.flag("extra_lengths", p.extra.lengths);
  b.lse(p.lse);
  b.choice("arith", p.arith, {{"f16", Arith::kF16}, {"bf16", Arith::kBF16}, {"fp8", Arith::kFp8}});
  b.flag("batch_invariant", p.batch_invariant);
  b.number("rows", p.rows, 0, kMaxRows);
  b.choice("specialise", p.specialise, {{"exact", Specialise::kExact}, {"generic", Specialise::kGeneric}});
  return b;
}

bool hasFp8(const KvLayout& layout) {
  for (const Piece& p : layout.pieces)
    if (p.elem == Elem::kE4M3) return true;
  return false;
}

// The second source exists if extra_topk says so; a generic kernel has no top-k, so there extra_layout says it as well.
Status settleExtra(SparseDecodeProblem& p, const FieldBinder& b, const ProblemFields& fields) {
  const bool exists = p.extra.topk > 0 || (p.generic() && p.extra.layout && !fields.count("extra_topk"));
  if (!exists) {
    const char* alone = p.extra.layout                ? "extra_layout"
                        : p.extra.page_size           ? "extra_page_size"
                        : p.extra.lengths             ? "extra_lengths"
                        : fields.count("extra_index") ? "extra_index"
                                                      : nullptr;
    if (alone)
      return b.error(fmt::format("{} is given, but there is no second source", alone), alone,
                     "pass extra_topk=N with N ≥ 1 too, or leave it out");
    p.extra = {};
    return {};
  }
  if (!p.extra.layout) p.extra.layout = p.source.layout;
  if (!fields.count("extra_index")) p.extra.index = p.source.index;
  if (!p.generic() && p.extra.page_size == 0)
    return b.error("the second source has no extra_page_size", "extra_page_size",
                   fmt::format("pass extra_page_size, an integer from 1 to {}", kMaxPageSize));
  if (p.extra.layout->d() != p.source.layout->d())
    return b.error(fmt::format("layout {} has {} columns and extra_layout {} has {}", p.source.layout->name, p.source.layout->d(),
                               p.extra.layout->name, p.extra.layout->d()),
                   "extra_layout", "the sources of one call have the same number of columns");
  return {};
}

}  // namespace

Result<SparseDecodeProblem> SparseDecodeProblem::parse(const ProblemFields& fields) {
  SparseDecodeProblem p;
  const FieldBinder b = bind(p);
  NEREID_CHECK_OK(b.parse(fields));
  if (!p.generic())
    for (const char* key : {"page_size", "topk"})
      if (!fields.count(key))
        return b.error(fmt::format("{} is missing", key), key,
                       fmt::format("pass {0}=N, or specialise=generic for a kernel that takes {0} at run time", key));
  NEREID_CHECK_OK(settleExtra(p, b, fields));
  const KvLayout& layout = *p.source.layout;
  if (p.d_qk == 0) p.d_qk = layout.d();
  if (p.d_qk < layout.d())
    return b.error(fmt::format("d_qk is {}, but a row of layout {} has {} columns", p.d_qk, layout.name, layout.d()), "d_qk",
                   fmt::format("pass d_qk from {} to {}; columns past {} are not read", layout.d(), kMaxHeadDim, layout.d()));
  if (p.head_dim_v == 0) p.head_dim_v = std::min<int64_t>(kDefaultHeadDimV, layout.d());
  if (p.head_dim_v > layout.d())
    return b.error(fmt::format("head_dim_v is {}, but a row of layout {} has {} columns", p.head_dim_v, layout.name, layout.d()),
                   "head_dim_v", fmt::format("pass head_dim_v from 1 to {}", layout.d()));
  if (p.arith == Arith::kFp8 && !(hasFp8(layout) && (!p.extra.exists() || hasFp8(*p.extra.layout))))
    return b.error("arith is fp8, but a source has no fp8 columns", "arith", "pass arith=f16 or arith=bf16");
  if (!p.sink) p.lse.sink = false;  // nothing to take in: the same kernel
  return p;
}

ProblemFields SparseDecodeProblem::fields() const {
  SparseDecodeProblem copy = *this;
  ProblemFields out = bind(copy).print();
  out.erase("rows");
  if (generic())
    for (const char* key : {"page_size", "topk", "extra_page_size", "extra_topk"}) out.erase(key);
  if (!extra.exists())
    for (const char* key : {"extra_layout", "extra_page_size", "extra_topk", "extra_index", "extra_lengths"}) out.erase(key);
  return out;
}

}  // namespace nereid::kernels
