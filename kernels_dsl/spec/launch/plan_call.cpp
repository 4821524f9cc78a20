// Plans of cases, one function a kind of call.
#include "kernels_dsl/spec/launch/plan_call.h"

#include <fmt/format.h>

#include <cstring>

namespace nereid::kernels {
namespace {

using Numbers = std::map<std::string, ArgSlot>;

ArgSlot slot(int32_t x) { return {.bits = static_cast<uint32_t>(x)}; }
ArgSlot slot(int64_t x) { return {.i64 = x}; }
ArgSlot slot(float x) {
  ArgSlot s{.bits = 0};
  s.f32 = x;
  return s;
}

int64_t lastDim(const Tensor& t) { return t.rank() ? t.shape().back() : 1; }

class Planner {
 public:
  explicit Planner(const Schedules& schedules) : schedules_(schedules) {}

  Status add(const DecodeCase& c) {
    const SparseDecodeProblem& p = c.problem;
    const Schedule& schedule = scheduleOf(p.kKernel);
    const int64_t b = c.q.dim(0), s = c.q.dim(1), h = c.q.dim(2), d = c.q.dim(3), splits = schedule.splits;
    Numbers n{
        {"softmax_scale", slot(static_cast<float>(c.softmax_scale))}, {"q_row_stride", slot(h * d)}, {"q_head_stride", slot(d)}};
    plan.inputs["q"] = c.q;
    NEREID_CHECK_OK(addSource("", p.source, c.source, n));
    if (c.extra) NEREID_CHECK_OK(addSource("extra_", p.extra, *c.extra, n));
    if (c.sink) plan.inputs["attn_sink"] = *c.sink;
    launch(p, {.rows = b * s}, n);
    if (splits == 1 || plan.calls.empty()) return {};
    plan.scratch["part_out"] = {DType::kF32, {b, s, h, splits, p.head_dim_v}};
    plan.scratch["part_lse"] = {DType::kF32, {b, s, h, splits}};
    CombineProblem merge{.heads = h, .head_dim_v = p.head_dim_v, .splits = splits, .s_q = s, .sink = p.sink, .lse = p.lse};
    launch(merge, {.rows = b * s}, {});
    return {};
  }

  Status add(const CombineCase& c) {
    plan.inputs["part_out"] = c.part_out;
    plan.inputs["part_lse"] = c.part_lse;
    if (c.sink) plan.inputs["attn_sink"] = *c.sink;
    launch(c.problem, {.rows = c.part_out.dim(0) * c.part_out.dim(1)}, {});
    return {};
  }

  Status add(const DequantCase& c) {
    plan.inputs["k_cache"] = c.cache.bytes;
    plan.inputs["indices"] = c.indices;
    Numbers n{{"count", slot(c.indices.elements())}};
    NEREID_CHECK_OK(addPool("", c.cache, c.problem.page_size, n));
    launch(c.problem, {.rows = c.indices.elements()}, n);
    return {};
  }

  Status add(const PackCase& c) {
    plan.inputs["kv"] = c.kv;
    plan.inputs["slots"] = c.slots;
    Numbers n{{"count", slot(c.kv.dim(0))}};
    NEREID_CHECK_OK(addPool("", c.cache_before, c.problem.page_size, n));
    launch(c.problem, {.rows = c.kv.dim(0)}, n);
    return {};
  }

  Status add(const MarkCase& c) {
    // Without lengths all indices are one row.
    const int64_t width = c.lengths ? lastDim(c.indices) : c.indices.elements();
    const int64_t rows = width ? c.indices.elements() / width : 0;
    if (width > INT32_MAX) return tooLarge(fmt::format("a row of {} indices", width));
    plan.inputs["indices"] = c.indices;
    Numbers n{{"pool_tokens", slot(c.pages * c.problem.page_size)}, {"width", slot(static_cast<int32_t>(width))}};
    if (c.lengths) {
      plan.inputs["topk_length"] = *c.lengths;
      n["s_q"] = slot(static_cast<int32_t>(c.lengths->dim(0) ? rows / c.lengths->dim(0) : 1));
    }
    launch(c.problem, {.rows = rows, .width = width}, n);
    return {};
  }

  Status add(const SplitCase& c) {
    plan.inputs["src"] = c.src.bytes;
    if (c.mark)
      NEREID_CHECK_OK(add(*c.mark));
    else
      std::memset(plan.outputs["mask"].data(), 1, static_cast<size_t>(plan.outputs["mask"].bytes()));
    if (c.problem.ratio() == 1) return {};  // dst is the source
    launch(
        c.problem, {.rows = c.src.pages()},
        {{"src_page_stride", slot(c.src.stride())}, {"dst_page_stride", slot(c.dst_page_bytes)}, {"pages", slot(c.src.pages())}});
    return {};
  }

  CallPlan plan;

 private:
  const Schedule& scheduleOf(const char* kernel) const {
    static const Schedule defaults;
    const auto found = schedules_.find(kernel);
    return found == schedules_.end() ? defaults : found->second;
  }

  template <typename P>
  void launch(const P& problem, CallSize size, Numbers numbers) {
    if (size.rows == 0) return;
    plan.calls.push_back({problem, scheduleOf(P::kKernel), size, std::move(numbers)});
  }

  static Diag tooLarge(const std::string& what) {
    return Diag{Code::kUnsupported, what + " is more than a kernel's 32-bit numbers count", "call",
                "split the call, or pass a part of the pool"};
  }

  Status addPool(const std::string& prefix, const Pool& pool, int64_t page_size, Numbers& n) {
    const int64_t tokens = pool.pages() * page_size;
    if (tokens > INT32_MAX) return tooLarge(fmt::format("a pool of {} tokens", tokens));
    n[prefix + "page_stride"] = slot(pool.stride());
    n[prefix + "pool_tokens"] = slot(static_cast<int32_t>(tokens));
    return {};
  }

  Status addSource(const std::string& prefix, const SourceProblem& p, const SourceTensors& s, Numbers& n) {
    plan.inputs[prefix + "k_cache"] = s.cache.bytes;
    plan.inputs[prefix + "indices"] = s.indices;
    if (s.lengths) plan.inputs[prefix + "topk_length"] = *s.lengths;
    n[prefix + "indices_stride"] = slot(lastDim(s.indices));
    n[prefix + "page_size"] = slot(static_cast<int32_t>(p.page_size));
    n[prefix + "topk"] = slot(static_cast<int32_t>(lastDim(s.indices)));
    return addPool(prefix, s.cache, p.page_size, n);
  }

  const Schedules& schedules_;
};

}  // namespace

Result<CallPlan> planCall(const Call& call, const Schedules& schedules) {
  Planner planner(schedules);
  NEREID_TRY(planner.plan.outputs, initialOutputs(call));
  NEREID_CHECK_OK(std::visit([&](const auto& c) { return planner.add(c); }, call));
  return std::move(planner.plan);
}

Result<std::vector<ArgSlot>> bindArguments(const ArgList& args, const std::string& kernel,
                                           const std::map<std::string, ArgSlot>& numbers,
                                           const std::map<std::string, void*>& pointers) {
  std::vector<ArgSlot> slots;
  for (const Arg& a : args) {
    ArgSlot s{.bits = 0};
    if (const auto p = pointers.find(a.name); a.type == ArgType::kPointer && p != pointers.end())
      s.pointer = p->second;
    else if (const auto n = numbers.find(a.name); a.type != ArgType::kPointer && n != numbers.end())
      s = n->second;
    else
      return Diag{Code::kInternal, fmt::format("nothing is bound to the argument {}", a.name), kernel, "report this call"};
    const uint64_t value = a.type == ArgType::kI32 ? static_cast<uint32_t>(s.i32) : s.bits;
    if (a.align > 1 && value % a.align) {
      if (a.type == ArgType::kPointer)
        return Diag{Code::kUsage, fmt::format("{} is not aligned: {} is no multiple of {}", a.name, value, a.align), kernel,
                    "align the tensor"};
      return Diag{Code::kUsage, fmt::format("{} is {}, no multiple of {}", a.name, value, a.align), kernel,
                  "pass a multiple of it; for a stride, a schedule with a smaller tile.align serves too"};
    }
    slots.push_back(s);
  }
  return slots;
}

}  // namespace nereid::kernels
