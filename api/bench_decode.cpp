// One row: a small case for plan and reference, a large pool, rotating index sets, graph replays.
#include "api/bench_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "api/compile_kernel.h"
#include "kernels_dsl/spec/compare.h"
#include "kernels_dsl/spec/formats.h"
#include "kernels_dsl/spec/heuristic.h"
#include "kernels_dsl/spec/launch/arguments.h"
#include "kernels_dsl/spec/launch/grid.h"
#include "kernels_dsl/spec/launch/plan_call.h"
#include "kernels_dsl/spec/references/reference.h"
#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/device_buffer.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/residency.h"
#include "runtime/launch/stream.h"
#include "runtime/module/code_object.h"

namespace nereid::api {
namespace {

using kernels::DType;
using kernels::Tensor;

constexpr int64_t kTemplatePages = 64;
constexpr int64_t kPoolBytes = int64_t{700} << 20;  // more than ten times the largest L2
constexpr int64_t kCheckedRows = 2;

// Valid rows: any code but NaN, scales near one another, normal numbers elsewhere.
void fillPool(std::mt19937_64& random, const kernels::KvLayout& layout, int64_t page_size, uint8_t* bytes, int64_t stride) {
  std::normal_distribution<float> normal;
  auto put = [](uint8_t* at, const auto& x) { std::memcpy(at, &x, sizeof(x)); };
  for (int64_t page = 0; page < kTemplatePages; page++)
    for (int64_t slot = 0; slot < page_size; slot++) {
      uint8_t* row = bytes + page * stride + slot * layout.row_bytes;
      uint8_t* scales = layout.footer_bytes
                            ? bytes + page * stride + kernels::footerOffset(layout, page_size) + slot * layout.footer_bytes
                            : row;
      for (const kernels::Cell& c : kernels::cells(layout)) {
        for (int i = 0; i < c.cols; i++) {
          if (c.elem == kernels::Elem::kBF16)
            put(row + c.byte + 2 * i, kernels::encodeBF16(normal(random)));
          else
            row[c.byte + i] = kernels::encodeE4M3(normal(random) * 100.0f);
        }
        if (c.scale == kernels::ScaleElem::kUE8M0) scales[c.scale_byte] = static_cast<uint8_t>(119 + random() % 3);
        if (c.scale == kernels::ScaleElem::kF32) put(scales + c.scale_byte, 0.01f * (1.0f + 0.5f * std::abs(normal(random))));
      }
    }
}

// A decode case over the template pool; the indices are drawn by `draw`.
Result<kernels::DecodeCase> makeCase(const BenchRow& row, int64_t rows, const BenchOptions& options, std::mt19937_64& random) {
  ProblemFields fields = {{"layout", row.layout},
                          {"page_size", fmt::to_string(options.page_size)},
                          {"topk", fmt::to_string(row.topk)},
                          {"heads", fmt::to_string(row.heads)},
                          {"rows", fmt::to_string(row.rows)}};
  if (row.extra_topk) {
    fields["extra_topk"] = fmt::to_string(row.extra_topk);
    fields["extra_page_size"] = fmt::to_string(options.page_size);
  }
  kernels::DecodeCase c;
  NEREID_TRY(c.problem, kernels::SparseDecodeProblem::parse(fields));
  const kernels::KvLayout& layout = *c.problem.source.layout;
  const int64_t stride = kernels::pageBytes(layout, options.page_size), d = layout.d();
  NEREID_TRY(c.q, Tensor::allocate(DType::kBF16, {rows, 1, row.heads, d}));
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < c.q.elements(); i++) c.q.as<uint16_t>()[i] = kernels::encodeBF16(normal(random));
  NEREID_TRY(c.source.cache.bytes, Tensor::allocate(DType::kU8, {kTemplatePages, stride}));
  fillPool(random, layout, options.page_size, c.source.cache.bytes.as<uint8_t>(), stride);
  auto indices = [&](int64_t k) -> Result<Tensor> {
    NEREID_TRY(Tensor t, Tensor::allocate(DType::kI32, {rows, 1, k}));
    for (int64_t i = 0; i < t.elements(); i++)
      t.as<int32_t>()[i] = static_cast<int32_t>(random() % (kTemplatePages * options.page_size));
    return t;
  };
  NEREID_TRY(c.source.indices, indices(row.topk));
  if (row.extra_topk) {
    c.extra = kernels::SourceTensors{.cache = c.source.cache, .indices = {}, .lengths = {}};
    NEREID_TRY(c.extra->indices, indices(row.extra_topk));
  }
  c.softmax_scale = 1.0 / std::sqrt(static_cast<double>(d));
  return c;
}

class RowBench {
 public:
  RowBench(const BenchRow& row, const BenchOptions& options, std::shared_ptr<const cuda::Context> context, const Target& target)
      : row_(row), options_(options), context_(std::move(context)), target_(target), random_(options.seed) {}

  Result<BenchResult> run() {
    NEREID_TRY(kernels::DecodeCase c, makeCase(row_, row_.rows, options_, random_));
    NEREID_TRY(const Schedule schedule, parseSchedule(options_.schedule, kernels::chooseSchedule(kernels::Call(c), target_)));
    NEREID_TRY(kernels::CallPlan plan, kernels::planCall(c, {{"sparse_decode", schedule}}));
    NEREID_CHECK_OK(upload(c, plan));
    NEREID_CHECK_OK(load(plan));

    BenchResult result{.row = row_, .schedule = schedule.text()};
    NEREID_CHECK_OK(enqueue(0));
    NEREID_CHECK_OK(check(c, plan, result));
    NEREID_CHECK_OK(measure(result));
    const double tokens = static_cast<double>(row_.rows) * static_cast<double>(row_.topk + row_.extra_topk);
    const kernels::KvLayout& layout = *c.problem.source.layout;
    result.useful_gbps = tokens * layout.tokenBytes() / result.us * 1e-3;
    result.tflops = 2.0 * tokens * static_cast<double>(row_.heads) * static_cast<double>(layout.d() + c.problem.head_dim_v) /
                    result.us * 1e-6;
    return result;
  }

 private:
  struct Ready {
    CodeObject object;
    std::vector<std::vector<ArgSlot>> slots;  // by index set
    LaunchOptions launch;
  };

  Result<void*> buffer(const void* bytes, size_t size) {
    NEREID_TRY(DeviceBuffer b, DeviceBuffer::allocate(context_, size));
    if (bytes) NEREID_CHECK_OK(b.write({static_cast<const uint8_t*>(bytes), size}, nullptr));
    buffers_.push_back(std::move(b));
    return buffers_.back().pointer();
  }

  Status upload(const kernels::DecodeCase& c, const kernels::CallPlan& plan) {
    const Tensor& pages = c.source.cache.bytes;
    repeats_ = (kPoolBytes + pages.bytes() - 1) / pages.bytes();
    NEREID_TRY(DeviceBuffer pool, DeviceBuffer::allocate(context_, static_cast<size_t>(pages.bytes() * repeats_)));
    for (int64_t i = 0; i < repeats_; i++)
      NEREID_CHECK_OK(
          pool.write({pages.as<uint8_t>(), static_cast<size_t>(pages.bytes())}, nullptr, static_cast<size_t>(i * pages.bytes())));
    for (const char* name : {"k_cache", "extra_k_cache"}) pointers_[name] = pool.pointer();
    buffers_.push_back(std::move(pool));
    for (const auto* tensors : {&plan.inputs, &plan.outputs})
      for (const auto& [name, t] : *tensors) {
        if (pointers_.contains(name)) continue;
        NEREID_TRY(pointers_[name], buffer(t.data(), static_cast<size_t>(t.bytes())));
      }
    for (const auto& [name, t] : plan.scratch) {
      size_t size = static_cast<size_t>(kernels::dtypeBytes(t.dtype));
      for (int64_t n : t.shape) size *= static_cast<size_t>(n);
      NEREID_TRY(pointers_[name], buffer(nullptr, size));
    }
    // Set 0 has the case's tokens, each in one of its copies in the pool; the others are drawn from the whole pool.
    const int64_t copy_tokens = kTemplatePages * options_.page_size;
    for (const char* name : {"indices", "extra_indices"}) {
      auto it = plan.inputs.find(name);
      if (it == plan.inputs.end()) continue;
      const int64_t n = it->second.elements();
      std::vector<int32_t> set(static_cast<size_t>(n));
      for (int s = 0; s < options_.sets; s++) {
        for (int64_t i = 0; i < n; i++)
          set[static_cast<size_t>(i)] =
              static_cast<int32_t>((s ? static_cast<int64_t>(random_() % copy_tokens) : it->second.as<int32_t>()[i]) +
                                   static_cast<int64_t>(random_() % repeats_) * copy_tokens);
        NEREID_TRY(void* at, buffer(set.data(), set.size() * 4));
        sets_[name].push_back(at);
      }
    }
    return {};
  }

  Status load(const kernels::CallPlan& plan) {
    for (kernels::KernelCall call : plan.calls) {
      for (const char* name : {"pool_tokens", "extra_pool_tokens"})
        if (auto it = call.numbers.find(name); it != call.numbers.end())
          it->second.i32 = static_cast<int32_t>(kTemplatePages * options_.page_size * repeats_);
      const KernelSpec spec{kernels::kernelOf(call.problem), kernels::fieldsOf(call.problem), call.schedule, target_, "nvptx"};
      NEREID_TRY(const Artifact artifact, compileKernel(spec));
      NEREID_TRY(CodeObject object, CodeObject::load(context_, artifact));
      Ready r{std::move(object), {}, {}};
      NEREID_TRY(r.launch.grid, kernels::gridSize(call.problem, call.schedule, call.size));
      if (options_.limits == Limits::kSm120) {
        const BlockNeeds needs{r.object.staticSharedBytes(), r.object.dynamicSharedBytes(), r.object.threads() / 32};
        NEREID_TRY(r.launch.dynamic_shared, dynamicSharedForResidency(needs, target_, context_->device()));
      }
      for (int s = 0; s < options_.sets; s++) {
        for (const auto& [name, list] : sets_) pointers_[name] = list[static_cast<size_t>(s)];
        NEREID_TRY(auto slots, kernels::bindArguments(artifact.args, spec.kernel, call.numbers, pointers_));
        r.slots.push_back(std::move(slots));
      }
      ready_.push_back(std::move(r));
    }
    return {};
  }

  Status enqueue(int set, cuda::StreamHandle stream = nullptr) const {
    for (const Ready& r : ready_) NEREID_CHECK_OK(launch(r.object, r.slots[static_cast<size_t>(set)], r.launch, stream));
    return {};
  }

  // The first rows of set 0 against float64.
  Status check(const kernels::DecodeCase& c, kernels::CallPlan& plan, BenchResult& result) {
    NEREID_CHECK_OK(context_->synchronize());
    const int64_t rows = std::min(kCheckedRows, row_.rows);
    auto head = [&](const Tensor& t) -> Result<Tensor> {
      kernels::Shape shape = t.shape();
      shape[0] = rows;
      NEREID_TRY(Tensor part, Tensor::allocate(t.dtype(), shape));
      std::memcpy(part.data(), t.data(), static_cast<size_t>(part.bytes()));
      return part;
    };
    kernels::DecodeCase small = c;
    NEREID_TRY(small.q, head(c.q));
    NEREID_TRY(small.source.indices, head(c.source.indices));
    if (c.extra) {
      NEREID_TRY(small.extra->indices, head(c.extra->indices));
    }
    NEREID_TRY(const kernels::TensorMap expected, kernels::computeReference(small));
    kernels::TensorMap got;
    for (auto& [name, t] : plan.outputs) {
      for (const DeviceBuffer& b : buffers_)
        if (b.pointer() == pointers_.at(name))
          NEREID_CHECK_OK(b.read({t.as<uint8_t>(), static_cast<size_t>(t.bytes())}, nullptr));
      NEREID_CHECK_OK(context_->synchronize());
      NEREID_TRY(got[name], head(t));
    }
    NEREID_TRY(const auto comparison, kernels::compareOutputs(expected, got, kernels::limitsFor(kernels::Call(small))));
    result.ok = true;
    for (const auto& o : comparison) {
      (o.name == "out" ? result.out_error : result.lse_error) = o.rel_error;
      result.ok &= o.ok;
    }
    return {};
  }

  Status measure(BenchResult& result) {
    NEREID_TRY(Stream stream, Stream::create(context_));
    NEREID_TRY(Graph graph, Graph::capture(stream, [&]() -> Status {
                 for (int s = 0; s < options_.sets; s++) NEREID_CHECK_OK(enqueue(s, stream.handle()));
                 return {};
               }));
    NEREID_TRY(Event begin, Event::create(context_));
    NEREID_TRY(Event end, Event::create(context_));
    std::vector<double> us;
    for (int i = 0; i < options_.replays + 2; i++) {
      NEREID_CHECK_OK(begin.record(stream.handle()));
      NEREID_CHECK_OK(graph.replay(stream.handle()));
      NEREID_CHECK_OK(end.record(stream.handle()));
      NEREID_CHECK_OK(end.synchronize());
      NEREID_TRY(const float ms, end.millisecondsSince(begin));
      if (i >= 2) us.push_back(ms * 1000.0 / options_.sets);  // two to warm up
    }
    std::sort(us.begin(), us.end());
    result.us = us[us.size() / 2];
    result.spread = (us[us.size() * 3 / 4] - us[us.size() / 4]) / result.us;
    return {};
  }

  const BenchRow& row_;
  const BenchOptions& options_;
  std::shared_ptr<const cuda::Context> context_;
  Target target_;
  std::mt19937_64 random_;
  int64_t repeats_ = 1;
  std::vector<DeviceBuffer> buffers_;
  std::map<std::string, void*> pointers_;
  std::map<std::string, std::vector<void*>> sets_;
  std::vector<Ready> ready_;
};

}  // namespace

const std::vector<BenchRow>& benchTable() {
  static const std::vector<BenchRow> rows = {
      {"MODEL1", 1, 16, 512, 0, 13.2},    {"MODEL1", 1, 64, 512, 0, 13.1},   {"MODEL1", 1, 16, 2048, 0, 18.7},
      {"MODEL1", 1, 64, 2048, 0, 18.6},   {"MODEL1", 1, 128, 2048, 0, 18.1}, {"MODEL1", 16, 64, 2048, 0, 32.1},
      {"MODEL1", 16, 64, 128, 512, 18.3}, {"MODEL1", 64, 16, 512, 0, 39.6},  {"MODEL1", 64, 64, 128, 0, 13.4},
      {"MODEL1", 64, 64, 512, 0, 39.5},   {"MODEL1", 64, 64, 1024, 0, 58.6}, {"MODEL1", 64, 64, 2048, 0, 83},
      {"MODEL1", 64, 64, 128, 512, 44.6}, {"MODEL1", 64, 16, 2048, 0, 82.2}, {"MODEL1", 64, 128, 512, 0, 27.5},
      {"MODEL1", 64, 128, 2048, 0, 84.7}, {"MODEL1", 128, 64, 512, 0, 39.1}, {"MODEL1", 256, 16, 512, 0, 75.0},
      {"MODEL1", 256, 64, 128, 0, 29.8},  {"MODEL1", 256, 64, 512, 0, 75.9}, {"MODEL1", 256, 16, 2048, 0, 241},
      {"MODEL1", 256, 64, 2048, 0, 246},  {"MODEL1", 256, 128, 512, 0, 103}, {"MODEL1", 256, 128, 2048, 0, 324},
      {"V32", 1, 64, 2048, 0, 18.2},      {"V32", 16, 64, 2048, 0, 30.1},    {"V32", 64, 64, 2048, 0, 76.9},
      {"V32", 128, 64, 2048, 0, 115},     {"V32", 16, 128, 2048, 0, 39.2},   {"V32", 64, 128, 2048, 0, 95.1},
      {"V32", 128, 128, 2048, 0, 185}};
  return rows;
}

Status benchDecode(const std::vector<BenchRow>& rows, const BenchOptions& options,
                   const std::function<void(const Result<BenchResult>&)>& done) {
  if (options.device.kind != DeviceKind::kCuda)
    return Diag{Code::kUsage, "bench measures a GPU and the device is " + options.device.text, "--device",
                "run it where a GPU is, with --device cuda"};
  NEREID_TRY(auto driver, cuda::Driver::open());
  NEREID_TRY(auto context, cuda::Context::primary(driver, options.device.ordinal));
  NEREID_TRY(const Target chip, findTarget(context->device().target));
  for (const BenchRow& row : rows) done(RowBench(row, options, context, limitTarget(chip, options.limits)).run());
  return {};
}

}  // namespace nereid::api
