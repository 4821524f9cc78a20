// Argument blocks, one function a kernel.
#include "kernels_dsl/spec/launch/arguments.h"

#include <numeric>

#include "kernels_dsl/spec/launch/tiles.h"

namespace nereid::kernels {
namespace {

constexpr int kVectorAlign = 16;  // dense tensors of ours: what an allocator gives and wide accesses need

Arg pointer(std::string name, int align) { return {std::move(name), ArgType::kPointer, align}; }
Arg i32(std::string name) { return {std::move(name), ArgType::kI32, 1}; }
Arg i64(std::string name, int divisor = 1) { return {std::move(name), ArgType::kI64, divisor}; }
int bytes(IndexType index) { return index == IndexType::kI64 ? 8 : 4; }

void addSource(ArgList& args, const std::string& prefix, const SourceProblem& s, bool generic, int align) {
  args.push_back(pointer(prefix + "k_cache", align));
  args.push_back(pointer(prefix + "indices", bytes(s.index)));
  if (s.lengths) args.push_back(pointer(prefix + "topk_length", 4));
  args.push_back(i64(prefix + "indices_stride"));
  args.push_back(i64(prefix + "page_stride", align));
  args.push_back(i32(prefix + "pool_tokens"));
  if (!generic) return;
  args.push_back(i32(prefix + "page_size"));
  args.push_back(i32(prefix + "topk"));
}

Result<ArgList> argsOf(const SparseDecodeProblem& p, const Schedule& schedule) {
  NEREID_TRY(const SparseDecodeTiles t, sparseDecodeTiles(schedule));
  const bool partial = schedule.splits > 1;
  const int step = static_cast<int>(std::gcd(p.d_qk, int64_t{8}));  // elements of q that are read at once: up to 16 bytes
  ArgList args = {pointer("q", 2 * step), i64("q_row_stride", step), i64("q_head_stride", step)};
  addSource(args, "", p.source, p.generic(), t.align);
  if (p.extra.exists()) addSource(args, "extra_", p.extra, p.generic(), t.align);
  if (p.sink && !partial) args.push_back(pointer("attn_sink", 4));
  args.push_back(pointer(partial ? "part_out" : "out", kVectorAlign));
  args.push_back(pointer(partial ? "part_lse" : "lse", 4));
  args.push_back({"softmax_scale", ArgType::kF32, 1});
  return args;
}

Result<ArgList> argsOf(const CombineProblem& p, const Schedule& schedule) {
  NEREID_CHECK_OK(combineTiles(schedule, p));
  ArgList args = {pointer("part_out", kVectorAlign), pointer("part_lse", 4)};
  if (p.sink) args.push_back(pointer("attn_sink", 4));
  args.push_back(pointer("out", kVectorAlign));
  args.push_back(pointer("lse", 4));
  return args;
}

Result<ArgList> argsOf(const GatherDequantProblem& p, const Schedule& schedule) {
  NEREID_TRY(const GatherDequantTiles t, gatherDequantTiles(schedule));
  return ArgList{pointer("k_cache", t.align), pointer("indices", bytes(p.index)),
                 pointer("kv", kVectorAlign), i64("page_stride", t.align),
                 i32("pool_tokens"),          i64("count")};
}

Result<ArgList> argsOf(const PackKvProblem& p, const Schedule& schedule) {
  NEREID_TRY(const PackKvTiles t, packKvTiles(schedule));
  return ArgList{pointer("kv", kVectorAlign), pointer("slots", bytes(p.index)),
                 pointer("cache", t.align),   i64("page_stride", t.align),
                 i32("pool_tokens"),          i64("count")};
}

Result<ArgList> argsOf(const PageSplitProblem& p, const Schedule& schedule) {
  NEREID_TRY(const PageSplitTiles t, pageSplitTiles(schedule));
  ArgList args = {pointer("src", t.align), pointer("dst", t.align), i64("src_page_stride", t.align),
                  i64("dst_page_stride", t.align), i64("pages")};
  if (p.marks) args.push_back(pointer("mask", 1));
  return args;
}

Result<ArgList> argsOf(const PageMarkProblem& p, const Schedule& schedule) {
  NEREID_CHECK_OK(pageMarkTiles(schedule));
  ArgList args = {pointer("indices", bytes(p.index)), pointer("mask", 1), i64("pool_tokens"), i32("width")};
  if (p.lengths) {
    args.push_back(pointer("topk_length", 4));
    args.push_back(i32("s_q"));
  }
  return args;
}

}  // namespace

Result<ArgList> kernelArgs(const Problem& problem, const Schedule& schedule) {
  return std::visit([&](const auto& p) { return argsOf(p, schedule); }, problem);
}

}  // namespace nereid::kernels
