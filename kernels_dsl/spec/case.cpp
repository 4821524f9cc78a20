// What a call gives out.
#include "kernels_dsl/spec/case.h"

#include <cstring>

namespace nereid::kernels {
namespace {

template <typename... F>
struct Overload : F... {
  using F::operator()...;
};
template <typename... F>
Overload(F...) -> Overload<F...>;

using Types = std::map<std::string, TensorType>;

}  // namespace

Problem problemOf(const Call& call) {
  return std::visit([](const auto& c) { return Problem(c.problem); }, call);
}

Types outputTypes(const Call& call) {
  return std::visit(
      Overload{[](const DecodeCase& c) {
                 const int64_t b = c.q.dim(0), s = c.q.dim(1), h = c.q.dim(2);
                 return Types{{"out", {DType::kBF16, {b, s, h, c.problem.head_dim_v}}}, {"lse", {DType::kF32, {b, h, s}}}};
               },
               [](const CombineCase& c) {
                 const int64_t b = c.part_out.dim(0), s = c.part_out.dim(1), h = c.part_out.dim(2);
                 return Types{{"out", {DType::kBF16, {b, s, h, c.problem.head_dim_v}}}, {"lse", {DType::kF32, {b, h, s}}}};
               },
               [](const DequantCase& c) {
                 Shape shape = c.indices.shape();
                 shape.push_back(c.problem.layout->d());
                 return Types{{"kv", {DType::kBF16, shape}}};
               },
               [](const SplitCase& c) {
                 const int64_t ratio = c.problem.ratio();
                 const Shape dst = ratio == 1 ? c.src.bytes.shape() : Shape{c.src.pages() * ratio, c.dst_page_bytes};
                 return Types{{"dst", {DType::kU8, dst}}, {"mask", {DType::kI8, {c.src.pages()}}}};
               },
               [](const MarkCase& c) { return Types{{"mask", {DType::kI8, {c.pages}}}}; },
               [](const PackCase& c) { return Types{{"cache", {DType::kU8, c.cache_before.bytes.shape()}}}; }},
      call);
}

Result<TensorMap> initialOutputs(const Call& call) {
  const auto* split = std::get_if<SplitCase>(&call);
  const auto* pack = std::get_if<PackCase>(&call);
  TensorMap out;
  for (const auto& [name, type] : outputTypes(call)) {
    if (split && name == "dst" && split->problem.ratio() == 1) {
      out[name] = split->src.bytes;
      continue;
    }
    NEREID_TRY(Tensor t, Tensor::allocate(type.dtype, type.shape));
    if (split && name == "dst" && split->fill) std::memset(t.data(), split->fill, size_t(t.bytes()));
    if (pack && name == "cache") std::memcpy(t.data(), pack->cache_before.bytes.data(), size_t(t.bytes()));
    out[name] = std::move(t);
  }
  return out;
}

}  // namespace nereid::kernels
