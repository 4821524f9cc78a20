// Numbers that a tuner would find, as constants and one table. Chip: H200, prototype of 2026-12-01 (docs/performance-log.md says
// which).
#include "kernels_dsl/spec/heuristic.h"

#include <algorithm>
#include <numeric>

#include "kernels_dsl/spec/launch/tiles.h"

namespace nereid::kernels {
namespace {

constexpr int64_t kSms = 132;             // multiprocessors to fill
constexpr int64_t kUnknownRows = 16;      // where there is no hint
constexpr int64_t kUnknownTopk = 2048;    // of a generic kernel without a hint
constexpr int64_t kFewBlocks = kSms / 8;  // with fewer blocks of 32 heads, 16 heads a block spread the work better
constexpr int64_t kMinTilesOfSplit = 2;   // a split of one tile is all prologue
constexpr int64_t kMaxChosenSplits = 32;  // 64 were slower than 32: the combine
constexpr int64_t kInvariantTiles = 8;    // tiles of a split that does not depend on the batch
constexpr int64_t kFullAlign = 16;        // of pools, for the widest copies
// Registers a thread by role, load first, where a target has budgets for roles and so many blocks fit an SM. What a role needs
// follows from the tests of resources: ptxas spills with less. Two sources of 16 heads spill with two blocks an SM, so have one.
struct Budget {
  int heads, sources;  // at most so many sources
  bool wide;           // rows of more than 512 columns (isWide)
  int blocks;
  std::vector<int> roles;
};
const Budget kBudgets[] = {{16, 1, false, 2, {56, 200}},
                           {16, 1, true, 2, {56, 200}},
                           {32, 2, false, 1, {32, 208, 80, 192}},
                           {32, 2, true, 1, {24, 216, 72, 200}}};

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t topkOf(const SourceProblem& source) { return source.exists() ? (source.topk ? source.topk : kUnknownTopk) : 0; }

// Tiles of tokens a query goes through; the sources do not share a tile.
int64_t tilesOf(const SparseDecodeProblem& p, int64_t tokens) {
  return ceilDiv(topkOf(p.source), tokens) + ceilDiv(topkOf(p.extra), tokens);
}

int64_t queries(const SparseDecodeProblem& p) { return (p.rows ? p.rows : kUnknownRows) * p.s_q; }

// Whether a token's weight is rounded once for each of its scales (sparse_decode's onWeights).
bool weighsEachScale(const SparseDecodeProblem& p) {
  const bool pow2 = p.source.layout->pow2Scales() && (!p.extra.exists() || p.extra.layout->pow2Scales());
  return p.arith == Arith::kFp8 || (p.arith == Arith::kBF16 && !pow2);
}

// Rows of which half, as q for 32 heads, is too much for a warp's registers.
bool isWide(const SparseDecodeProblem& p) { return p.source.layout->d() > 512; }

// All heads of a block go through each warp, so that a row is unpacked once for them: q·k over tokens and columns of the row, p·v
// over columns. With 32 heads the products have roles of their own, and so has what lies between them.
void setRoles(const SparseDecodeProblem& p, Schedule& s) {
  const Role load{.name = "load", .dots = {}, .warps = 4, .groups = std::min(2, s.stages)};
  // 32 heads of q: a warp holds the columns of its part of k, 128 registers for 256.
  s.grid["qk"] = s.tile["heads"] == 32 && isWide(p) ? Grid{1, 1, 4} : Grid{1, 2, 2};
  s.grid["pv"] = {1, 4, 1};
  if (s.tile["heads"] == 16) {
    s.roles = {load, {.name = "main", .dots = {"qk", "pv"}, .warps = 4}};
    return;
  }
  s.roles = {load,
             {.name = "qk", .dots = {"qk"}, .warps = 4},
             {.name = "softmax", .dots = {}, .warps = 4},
             {.name = "pv", .dots = {"pv"}, .warps = 4}};
}

int headsOfBlock(const SparseDecodeProblem& p) {
  if (p.heads <= 16 || weighsEachScale(p)) return 16;  // with 32 heads those weights leave no room
  if (p.batch_invariant) return 32;                    // by the problem alone
  return queries(p) * ceilDiv(p.heads, 32) < kFewBlocks ? 16 : 32;
}

// What is given up, in this order, until a block fits into shared memory.
void fit(const SparseDecodeProblem& p, const Target& target, Schedule& s) {
  struct Step {
    int heads, stages, tokens;
  };
  // 16 heads: two stages, so that two blocks share an SM; their warps hide each other's latency better than a third stage.
  constexpr Step kSteps[] = {{32, 4, 32}, {32, 3, 32}, {32, 2, 32}, {16, 2, 32}, {16, 3, 16}, {16, 2, 16}, {16, 1, 16}};
  const int most = s.tile["heads"];
  const bool f8 = p.arith == Arith::kFp8;  // whose products sum over 32 tokens at a time
  for (const Step& step : kSteps) {
    // Without bulk copies the two-source kernel spills with 32 tokens (ptxas 13.0, sm_89: 24 bytes a thread).
    if (step.heads > most || (step.tokens > 16 ? !target.has_bulk_copy && !f8 : f8)) continue;
    s.tile["heads"] = step.heads;
    s.stages = step.stages;
    s.tile["tokens"] = step.tokens;
    setRoles(p, s);
    if (estimateSharedBytes(p, s) <= target.shared_per_block) break;
  }
  const int64_t blocks = target.shared_per_sm / (estimateSharedBytes(p, s) + kSharedReservedPerBlock);
  for (const Budget& budget : kBudgets) {
    if (budget.heads != s.tile["heads"] || budget.sources < (p.extra.exists() ? 2 : 1) || budget.wide != isWide(p) ||
        blocks < budget.blocks || !target.has_setmaxnreg)
      continue;
    if (f8 && budget.blocks > 1) continue;  // sm_90a, which emulates the products, spills
    s.blocks_per_sm = budget.blocks;
    for (size_t i = 0; i < budget.roles.size(); i++) s.roles[i].registers = budget.roles[i];
  }
}

int64_t blocksOfSm(const SparseDecodeProblem& p, const Target& target, const Schedule& s) {
  const int64_t by_memory = target.shared_per_sm / (estimateSharedBytes(p, s) + kSharedReservedPerBlock);
  const int64_t most = s.blocks_per_sm ? s.blocks_per_sm : 1;  // by registers
  return std::max<int64_t>(1, std::min({by_memory, most, int64_t{target.warps_per_sm / s.totalWarps()}}));
}

int splitsFor(const SparseDecodeProblem& p, const Target& target, const Schedule& s) {
  const int64_t tiles = tilesOf(p, s.tile.at("tokens"));
  int64_t splits = tiles / kInvariantTiles;
  if (!p.batch_invariant) {
    const int64_t blocks = std::max<int64_t>(1, queries(p) * ceilDiv(p.heads, s.tile.at("heads")));
    splits = std::min(kSms * blocksOfSm(p, target, s) / blocks, tiles / kMinTilesOfSplit);
  }
  splits = std::clamp<int64_t>(splits, 1, kMaxChosenSplits);
  return int(ceilDiv(tiles, ceilDiv(tiles, splits)));  // no split without a tile
}

Schedule decodeSchedule(const SparseDecodeProblem& p, const Target& target) {
  Schedule s;
  s.tile = {{"heads", 16}, {"tokens", 32}};
  if (!target.isGpu()) return s;
  s.tile["heads"] = headsOfBlock(p);
  fit(p, target, s);
  s.splits = splitsFor(p, target, s);
  return s;
}

// Kernels without a dot: the programs' own tile sizes, written out so that a schedule says what it is. combine's follow its
// problem.
int rowsOfBlock(const Problem& problem) {
  if (std::holds_alternative<GatherDequantProblem>(problem)) return GatherDequantTiles{}.rows;
  if (std::holds_alternative<PackKvProblem>(problem)) return PackKvTiles{}.rows;
  if (std::holds_alternative<PageSplitProblem>(problem)) return PageSplitTiles{}.rows;
  if (std::holds_alternative<PageMarkProblem>(problem)) return PageMarkTiles{}.rows;
  return 0;
}

// Strides of the pools that a call reads and writes.
std::vector<int64_t> poolStrides(const Call& call) {
  if (const auto* c = std::get_if<DecodeCase>(&call)) {
    std::vector<int64_t> strides = {c->source.cache.stride()};
    if (c->extra) strides.push_back(c->extra->cache.stride());
    return strides;
  }
  if (const auto* c = std::get_if<DequantCase>(&call)) return {c->cache.stride()};
  if (const auto* c = std::get_if<PackCase>(&call)) return {c->cache_before.stride()};
  if (const auto* c = std::get_if<SplitCase>(&call)) return {c->src.stride(), c->dst_page_bytes};
  return {};
}

}  // namespace

int64_t estimateSharedBytes(const SparseDecodeProblem& p, const Schedule& s) {
  // A token's row at the pitch that ldmatrix wants, its scales and their rests, the largest one, and whether it counts.
  int64_t token = 0;
  for (const SourceProblem* source : {&p.source, &p.extra}) {
    if (!source->exists()) continue;
    int64_t scales = 0;
    for (const Cell& c : cells(*source->layout)) scales += c.scale.has_value();
    const bool pow2 = source->layout->pow2Scales();  // scores take bf16 instead of f32
    const int64_t scale = (pow2 ? 2 : 4) + (p.arith == Arith::kFp8 || (p.arith == Arith::kBF16 && !pow2) ? 4 : 2);
    const int64_t pitch = (ceilDiv(source->layout->row_bytes, 16) | 1) * 16, bytes = pitch + scale * scales + (scales ? 5 : 1);
    // Sources of one layout share a ring.
    token = source == &p.extra && source->layout != p.source.layout ? token + bytes : std::max(token, bytes);
  }
  const int64_t tokens = s.tile.at("tokens"), slot = tokens * token;
  // Addends of scores; weights in f16 and bf16 with factors by head, twice if they pass between roles.
  const int64_t heads = s.tile.at("heads"), addends = s.grid.contains("qk") ? s.grid.at("qk").k : 1;
  const int64_t scores = addends * heads * (tokens * 4 + 32), kinds = p.arith == Arith::kBF16 && weighsEachScale(p) ? 5 : 2;
  const int64_t weights = kinds * heads * (tokens * 2 + 16) + heads * 4;
  // Two loops where rows have different formats: each with channels of its own, and accumulators change their layout between.
  const int64_t loops = p.extra.exists() && p.extra.layout != p.source.layout ? 2 : 1;
  return s.stages * slot + loops * (scores + (s.roles.size() > 2 ? 2 : 1) * weights) + (loops - 1) * heads * p.head_dim_v * 4 +
         heads * 8 + 256;
}

Schedule chooseSchedule(const Problem& problem, const Target& target) {
  if (const auto* decode = std::get_if<SparseDecodeProblem>(&problem)) return decodeSchedule(*decode, target);
  Schedule s;
  if (const int rows = rowsOfBlock(problem)) s.tile = {{"rows", rows}};
  return s;
}

Schedule chooseSchedule(const Call& call, const Target& target) {
  Schedule s = chooseSchedule(problemOf(call), target);
  int64_t align = kFullAlign;
  for (int64_t stride : poolStrides(call)) align = std::gcd(align, stride);
  if (align < kFullAlign) s.tile["align"] = int(align);
  return s;
}

Result<Schedule> chooseSchedule(const std::string& kernel, const ProblemFields& fields, const Target& target) {
  NEREID_TRY(const Problem problem, parseProblem(kernel, fields));
  return chooseSchedule(problem, target);
}

}  // namespace nereid::kernels
