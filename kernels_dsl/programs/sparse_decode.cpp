// sparse_decode: attention of query rows over selected rows of one or two paged caches.
// One block is a (query row, tile of heads, split of the row's tokens); tile sizes and splits come from the schedule.
//
// Numerics. Cells are column blocks with at most one scale a token; products are of exact narrow numbers, sums in f32:
//  * Each head's q is divided by a power of two, which the f32 score is multiplied by: f16 holds it (|q| < 2^100), or two e4m3.
//  * A token's scales are split into a power of two, the largest, and the rest in (0, 1].
//  * Scores: a cell's scale multiplies its part of the score in f32. One that is a power of two comes as its rest, in bf16, and
//    the largest multiplies their sum.
//  * The running maximum moves only when it grows by 2^6; weights are relative to it, so at most 2^6.
//  * Values: the largest goes into the token's weight, which is in units of a carried power of two a head, so that f16 holds
//    it; the rest multiplies the weight or the row's narrow values. Scales below 2^-100 lose bits.
#include <algorithm>
#include <cmath>
#include <map>

#include "kernels_dsl/programs/lse.h"
#include "kernels_dsl/programs/paged_cache.h"
#include "kernels_dsl/programs/power_of_two.h"
#include "kernels_dsl/programs/programs.h"
#include "kernels_dsl/programs/row_scales.h"

namespace nereid::kernels {
using dsl::Builder, dsl::Type, dsl::Value;
namespace {

constexpr int kGrowth = 6;          // log2 of how far the maximum, and weights, may grow before a rescale
constexpr int kLowestUnit = -110;   // so that weights in units, and their sum, stay finite
constexpr float kLower = 0x1p-33f;  // scores with scales are kept lower before the last factor, so that they are finite

// One KV cache of the call. The tiles of the first source come before those of the second.
struct Source {
  const SourceProblem* problem = nullptr;
  std::vector<Cell> cells;
  std::vector<Value> q, q_rest;                               // by cell, [heads, cols], in the type of its product
  Value pool, stride, tokens, page_size, indices, index_row;  // index_row: where the row's index list starts
  Value length, tiles;                                        // length in [0, top-k], read on the device
};

// Where the rows of one iteration are.
struct Rows {
  Value base, selected;
  TokenAddress at;
};

class SparseDecode {
 public:
  SparseDecode(Builder& b, const SparseDecodeProblem& p, const SparseDecodeTiles& t, int splits)
      : b(b), p(p), t(t), splits(splits) {}

  void run() {
    const int heads = static_cast<int>(p.heads), head_tiles = (heads + t.heads - 1) / t.heads;
    const Value id = b.programId(), row_tile = divUnsigned(id, splits);
    row = divUnsigned(row_tile, head_tiles);
    split = id - row_tile * splits;
    head = (row_tile - row * head_tiles) * t.heads + b.range(t.heads);
    live = head < heads;

    std::vector<const KvLayout*> layouts{p.source.layout};
    if (p.extra.exists()) layouts.push_back(p.extra.layout);
    const auto cells = alignedCells(layouts);  // so that sources share accumulators
    for (const KvLayout* layout : layouts) units |= layout->hasScales();
    bindSource("", p.source, cells.front());
    if (p.extra.exists()) bindSource("extra_", p.extra, cells.back());
    loadQuery();

    std::vector<Value> state = {b.full(-INFINITY, Type::F32, {t.heads}), b.full(0., Type::F32, {t.heads, t.tokens}),
                                b.full(0., Type::I32, {t.heads})};
    for (size_t c = 0; c < cells[0].size() && stored(cells[0][c]); c++)
      state.push_back(b.full(0., Type::F32, {t.heads, cells[0][c].cols}));
    attendAll(state);
    store(state);
  }

 private:
  void bindSource(const std::string& prefix, const SourceProblem& source, const std::vector<Cell>& cells) {
    const auto name = [&](const char* n) { return prefix + n; };
    const auto number = [&](const char* n, int64_t exact) {
      return p.generic() ? b.arg(name(n)) : b.constant(static_cast<double>(exact), Type::I32);
    };
    Source s{.problem = &source, .cells = cells};
    s.pool = b.pointer(name("k_cache"), Type::I8);
    s.stride = b.arg(name("page_stride"));
    s.tokens = b.arg(name("pool_tokens"));
    s.page_size = number("page_size", source.page_size);
    s.indices = b.pointer(name("indices"), dslType(source.index));
    s.index_row = row.to(Type::I64) * b.arg(name("indices_stride"));
    s.length = number("topk", source.topk);
    if (source.lengths) {
      const Value batch = divUnsigned(row, static_cast<int>(p.s_q));
      s.length = max(min(b.loadScalar(b.pointer(name("topk_length"), Type::I32), batch), s.length), 0);
    }
    s.tiles = ceilDiv(s.length, t.tokens);
    sources.push_back(s);
  }

  bool stored(const Cell& c) const { return c.col < p.head_dim_v; }
  Type product(const Cell& c) const {
    if (c.elem == Elem::kBF16 || !c.scale || p.arith == Arith::kBF16) return Type::BF16;
    return p.arith == Arith::kFp8 ? Type::F8E4M3 : Type::F16;
  }
  // Whether rests, in f32, multiply weights before they are rounded: the narrow types would round once more.
  bool onWeights(const KvLayout& l) const { return p.arith == Arith::kFp8 || (p.arith == Arith::kBF16 && !l.pow2Scales()); }
  // log2 of the largest |q| as an operand: narrow types want a large one, f16's small values end at 2^-24.
  int queryExponent() const { return p.arith == Arith::kFp8 ? 7 : 14; }

  void loadQuery() {
    const Value q = b.pointer("q", Type::BF16);
    // Heads beyond the last compute what the last one does, and are not stored: cheaper than a masked load.
    const Value source = min(head, static_cast<int>(p.heads) - 1).to(Type::I64);
    const Value start = (row.to(Type::I64) * b.arg("q_row_stride") + source * b.arg("q_head_stride")).col();
    std::vector<Value> values;
    std::map<int, Value> magnitudes;  // by columns: one reduction for all cells of a width
    for (const Cell& c : sources[0].cells) {
      values.push_back(b.load(q, start + (b.range(c.cols).to(Type::I64) + c.col).row()));
      Value& m = magnitudes[c.cols];
      m = m.present() ? max(m, abs(values.back())) : abs(values.back());
    }
    Value largest = b.full(0., Type::F32, {t.heads});
    for (const auto& [cols, m] : magnitudes) largest = max(largest, reduceMax(m, 1).to(Type::F32));
    const Value e = min(max(exponentOf(largest), -112), 100);
    score_factor = powerOfTwo(e + (units ? 33 : 0) - queryExponent()) * (b.arg("softmax_scale") * kLog2e);
    for (Source& s : sources)
      for (size_t c = 0; c < s.cells.size(); c++) {
        // A power of two is exact in bf16 too, and two products are one instruction there.
        const Value power = powerOfTwo(queryExponent() - e), factor = units && !s.cells[c].scale ? power * kLower : power;
        const Value q = values[c] * factor.to(Type::BF16).col();
        const Type type = product(s.cells[c]);
        s.q.push_back(q.to(type));
        s.q_rest.push_back(type == Type::F8E4M3 ? (q.to(Type::F32) - s.q.back().to(Type::F32)).to(type) : Value());
      }
  }

  void attendAll(std::vector<Value>& state) {
    const Value first = sources[0].tiles, total = sources.size() > 1 ? first + sources[1].tiles : first;
    const Value begin = splits > 1 ? total * split / splits : b.constant(0, Type::I32);
    const Value end = splits > 1 ? total * (split + 1) / splits : total;
    const Source &s = sources.front(), &x = sources.back();
    if (s.problem->layout == x.problem->layout) {  // else rows of different formats: one loop a source
      b.loop("tokens", begin, end, state,
             [&](Value i, auto& st) { attend(s, sources.size() == 1 ? rowsOf(s, i) : rowsOf(i, first), st); });
      return;
    }
    b.loop("tokens", min(begin, first), min(end, first), state, [&](Value i, auto& st) { attend(s, rowsOf(s, i), st); });
    b.loop("extra_tokens", max(begin, first) - first, max(end, first) - first, state,
           [&](Value i, auto& st) { attend(x, rowsOf(x, i), st); });
  }

  Value lanes(const Value& tile) { return tile * t.tokens + b.range(t.tokens); }
  // Tokens at lanes of a source's index list, −1 where there is none.
  Value tokensOf(const Source& s, const Value& lane, const Value& valid) {
    return checkedTokens(b.load(s.indices, s.index_row + lane.to(Type::I64), valid, -1), s.tokens);
  }
  Rows rowsOf(const Source& s, const Value& tile) {
    const Value lane = lanes(tile), token = tokensOf(s, lane, lane < s.length);
    return {s.pool, token >= 0, tokenAddress(*s.problem->layout, token, s.page_size, s.stride)};
  }
  // Rows of a tile of the first source, or from tile `first` on of the second, which has the same format.
  Rows rowsOf(const Value& tile, const Value& first) {
    const Source &s = sources[0], &x = sources[1];
    const Value second = tile >= first;
    const Value lane = lanes(tile - select(second, first, 0));
    const Value token =
        select(second, tokensOf(x, lane, second & (lane < x.length)), tokensOf(s, lane, !second & (lane < s.length)));
    const Value page_size = select(second, x.page_size, s.page_size), stride = select(second, x.stride, s.stride);
    // Divisions by constants are cheap, one by a selected number is not.
    const Value page = p.generic() ? divUnsigned(token, page_size)
                                   : select(second, divUnsigned(token, x.page_size), divUnsigned(token, s.page_size));
    return {select(second, x.pool, s.pool), token >= 0,
            tokenAddress(*s.problem->layout, page, token - page * page_size, page_size, stride)};
  }

  // What `load` hands over of a tile's scales: `scale` is the factor of a part of the score, rests are in the products' type.
  RowScales stageScales(const Source& s, const std::vector<Value>& scales, const Value& selected) {
    const KvLayout& layout = *s.problem->layout;
    if (!layout.hasScales()) return {.scale = scales, .rest = scales};
    RowScales out = splitScales(scales, selected);
    for (size_t c = 0; c < s.cells.size(); c++) {
      if (!s.cells[c].scale) continue;
      out.scale[c] = b.staged(layout.pow2Scales() ? out.rest[c].to(Type::BF16) : out.scale[c] * kLower);
      if (stored(s.cells[c])) out.rest[c] = b.staged(onWeights(layout) ? out.rest[c] : out.rest[c].to(product(s.cells[c])));
    }
    out.largest = b.staged(out.largest);
    return out;
  }

  // One tile of tokens: scores, online softmax, weighted sum.
  void attend(const Source& s, const Rows& rows, std::vector<Value>& st) {
    const KvLayout& layout = *s.problem->layout;
    const auto loaded = gatherScales(b, layout, s.cells, rows.base, rows.at.scales, rows.selected, scaleAlign(layout, t.align));
    const Value bytes = b.gatherRows(rows.base, rows.at.row, layout.row_bytes, rows.selected, rowAlign(layout, t.align));
    const RowScales scales = stageScales(s, loaded, rows.selected);
    const auto values = [&](const Cell& c) {
      const Value v = b.view(bytes, c.byte, dslType(c.elem), c.cols);
      return product(c) == dslType(c.elem) ? v : v.to(product(c));
    };

    // Parts of the score, each summed over the cells whose parts have one factor.
    const Value zero = b.full(0., Type::F32, {t.heads, t.tokens});
    const auto part = [&](size_t c, const Value& k, const Value& sum) {
      return b.dot("qk", s.q[c], trans(k), s.q_rest[c].present() ? b.dot("qk", s.q_rest[c], trans(k), sum) : sum);
    };
    Value x = zero;
    for (size_t c = 0; c < s.cells.size(); c++)
      if (s.cells[c].scale) x = x + part(c, values(s.cells[c]), zero) * scales.scale[c].to(Type::F32).row();
    if (layout.hasScales() && layout.pow2Scales()) x = x * (scales.largest * kLower).row();
    for (size_t c = 0; c < s.cells.size(); c++)
      if (!s.cells[c].scale) x = part(c, values(s.cells[c]), x);
    x = select(rows.selected.row(), x * score_factor.col(), -INFINITY);

    const Value m = st[kMax], top = reduceMax(x, 1), grows = top > m + static_cast<float>(kGrowth);
    st[kMax] = select(grows, top, m);
    const Value reference = select(st[kMax] == -INFINITY, 0.f, st[kMax]);
    Value keep = select(grows, exp2(m - reference), 1.f);
    Value weight = exp2(x - reference.col()), sized;
    if (units) {
      // The unit rises when a weight times its token's largest scale would leave its type, and falls as far as what was summed
      // loses its weight, because then smaller scales decide the result.
      sized = scales.largest.present() ? weight * scales.largest.row() : weight * kLargestDown;
      const int up = p.arith == Arith::kFp8 ? kGrowth : 0;  // a weight times a rest up to 2^7 stays in e4m3
      const Value largest = reduceMax(sized, 1), exponent = min(max(exponentOf(largest) + up, kLowestUnit), 126);
      const Value least = select(grows, st[kUnit] + exponentOf(exp2(m - reference)), st[kUnit]);
      const Value moves = grows | (exponent > least + kGrowth);
      const Value unit = select(moves, max(exponent, least), st[kUnit]), in_units = powerOfTwo(-unit);
      keep = keep * select(moves, powerOfTwo(max(st[kUnit] - unit, -126)), 1.f);
      st[kUnit] = unit;
      weight = weight * in_units.col();
      sized = sized * in_units.col();
    }
    st[kSum] = st[kSum] * keep.col() + weight;
    std::vector<Value> w, v;  // by cell
    for (size_t c = 0; kAcc + c < st.size(); c++) {
      const Value& rest = scales.rest[c];
      const Type type = product(s.cells[c]);
      const bool f32 = onWeights(layout), few = t.heads <= 16;  // few: a warp has no more values than weights
      w.push_back((!rest.present() ? weight : f32 ? sized * rest.row() : sized).to(type));
      v.push_back(values(s.cells[c]));
      if (rest.present() && !f32) (few ? w : v).back() = few ? w.back() * rest.row() : v.back() * rest.col();
    }
    for (size_t n = kAcc; n < st.size(); n++) st[n] = st[n] * keep.col();
    for (size_t c = 0; kAcc + c < st.size(); c++) st[kAcc + c] = b.dot("pv" + std::to_string(c), w[c], v[c], st[kAcc + c]);
  }

  void store(const std::vector<Value>& st) {
    const RowSoftmax sum{st[kMax], reduceSum(st[kSum], 1) * powerOfTwo(st[kUnit])};
    const bool partial = splits > 1;
    Value sink;
    if (p.sink && !partial) sink = b.load(b.pointer("attn_sink", Type::F32), head, live, -INFINITY) * kLog2e;
    const Value scale = select(sum.empty(), 0.f, 1.f / denominator(sum, sink));

    const int heads = static_cast<int>(p.heads), dv = static_cast<int>(p.head_dim_v);
    const Value row_head = row.to(Type::I64) * heads + head.to(Type::I64);
    const Value place = partial ? row_head * splits + split.to(Type::I64) : row_head;
    const Value out = b.pointer(partial ? "part_out" : "out", partial ? Type::F32 : Type::BF16);
    for (size_t c = 0, n = kAcc; n < st.size(); c++, n++) {
      const Cell& cell = sources[0].cells[c];
      const Value column = b.range(cell.cols) + cell.col;
      Value y = st[n] * powerOfTwo(st[kUnit]).col() * scale.col();
      if (!partial) y = y.to(Type::BF16);
      const Value mask = cell.col + cell.cols <= dv ? live.col() : live.col() & (column < dv).row();
      b.store(out, (place * dv).col() + column.to(Type::I64).row(), y, mask);
    }
    if (partial) return b.store(b.pointer("part_lse", Type::F32), place, lseValue(sum, {}, {}), live);
    const int s_q = static_cast<int>(p.s_q);  // lse is [batch, heads, s_q]
    const Value batch = divUnsigned(row, s_q), query = row - batch * s_q;
    const Value at = (batch.to(Type::I64) * heads + head.to(Type::I64)) * s_q + query.to(Type::I64);
    b.store(b.pointer("lse", Type::F32), at, lseValue(sum, sink, p.lse), live);
  }

  // Carried values by head: the reference maximum (log2), the sums of each place in a tile, log2 of the unit; then accumulators.
  // Sums and accumulators are relative to 2^(maximum + unit).
  static constexpr size_t kMax = 0, kSum = 1, kUnit = 2, kAcc = 3;

  Builder& b;
  const SparseDecodeProblem& p;
  const SparseDecodeTiles& t;
  const int splits;
  Value row, split, head, live, score_factor;
  bool units = false;  // weights are in units of the carried power of two: some source has scales
  std::vector<Source> sources;
};

}  // namespace

void sparseDecode(Builder& b, const SparseDecodeProblem& problem, const SparseDecodeTiles& tiles, int splits) {
  SparseDecode(b, problem, tiles, splits).run();
}

}  // namespace nereid::kernels
