// Constructors and algebra of register layouts.
#include "compiler/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::layout {
namespace {

int log2Of(int x) {
  int bits = 0;
  while ((1 << bits) < x) bits++;
  return bits;
}

bool isZero(const Coord& c) {
  return std::all_of(c.begin(), c.end(), [](int32_t x) { return x == 0; });
}

// Deals the bits of one dimension from `first` up to `extent`: `warps` first, the rest to registers.
void dealAtoms(Layout& l, int dim, int first, int extent, int warps, std::vector<Coord>& warp_bits) {
  int step = first;
  for (int w = 1; w < warps; w *= 2, step *= 2) {
    Coord c(l.rank, 0);
    if (step < extent) c[dim] = step;
    warp_bits.push_back(c);
  }
  for (; step < extent; step *= 2) {
    Coord c(l.rank, 0);
    c[dim] = step;
    l.reg.push_back(c);
  }
}

void replicate(Layout& l, int warps, std::vector<Coord>& warp_bits) {
  for (int w = 1; w < warps; w *= 2) warp_bits.push_back(Coord(l.rank, 0));
}

// Warp bits in the order k, n, m, then copies up to the role's width.
void joinWarps(Layout& l, const std::vector<Coord>& k, const std::vector<Coord>& n, const std::vector<Coord>& m, int warp_bits) {
  for (auto* part : {&k, &n, &m}) l.warp.insert(l.warp.end(), part->begin(), part->end());
  while (static_cast<int>(l.warp.size()) < warp_bits) l.warp.push_back(Coord(l.rank, 0));
}

}  // namespace

Coord Layout::at(int r, int l, int w) const {
  Coord c(rank, 0);
  auto add = [&](const std::vector<Coord>& bases, int bits) {
    for (size_t i = 0; i < bases.size(); i++)
      if (bits >> i & 1)
        for (int d = 0; d < rank; d++) c[d] += bases[i][d];
  };
  add(reg, r);
  add(lane, l);
  add(warp, w);
  return c;
}

std::optional<int> Layout::registerAt(const Coord& offset) const {
  for (int r = 0; r < registers(); r++)
    if (regOffset(r) == offset) return r;
  return std::nullopt;
}

std::vector<int32_t> Layout::shape() const {
  std::vector<int32_t> s(rank, 1);
  for (auto* bases : {&reg, &lane, &warp})
    for (const Coord& c : *bases)
      for (int d = 0; d < rank; d++) s[d] += c[d];
  return s;
}

std::string Layout::text() const {
  auto list = [](const std::vector<Coord>& bases) {
    std::string s;
    for (const Coord& c : bases) {
      s += s.empty() ? "[" : ", [";
      for (size_t d = 0; d < c.size(); d++) s += fmt::format("{}{}", d ? ", " : "", c[d]);
      s += "]";
    }
    return s;
  };
  std::string s = fmt::format("reg = [{}], lane = [{}], warp = [{}]", list(reg), list(lane), list(warp));
  if (partial) s += fmt::format(", partial = {}", partial);
  return s;
}

Layout accumulator(int m, int n, const Grid& grid, FragmentOrder order, int warp_bits, bool partial_over_k) {
  Layout l{.rank = 2};
  const int nw = order.n;
  l.lane = {{0, 2 * nw}, {0, 4 * nw}, {1, 0}, {2, 0}, {4, 0}};
  l.reg = {{0, nw}, {8, 0}};  // c0 c1 | c2 c3
  if (nw == 2) l.reg.push_back({0, 1});
  std::vector<Coord> wk, wn, wm;
  replicate(l, grid.k, wk);
  dealAtoms(l, 1, 8 * nw, n, grid.n, wn);
  dealAtoms(l, 0, 16, m, grid.m, wm);
  joinWarps(l, wk, wn, wm, warp_bits);
  if (partial_over_k) l.partial = static_cast<uint32_t>(grid.k - 1);
  return l;
}

Layout operandA(int m, int k, const Grid& grid, FragmentOrder order, int warp_bits) {
  Layout l{.rank = 2};
  const int kw = order.k, far = kw == 2 ? 8 : 2;
  l.lane = {{0, kw}, {0, 2 * kw}, {1, 0}, {2, 0}, {4, 0}};
  if (order.bytes == 1)
    l.reg = {{0, 1}, {0, far}, {8, 0}, {0, 16}};  // a0 … a3 | a4 … a7
  else
    l.reg = {{0, 1}, {8, 0}, {0, far}};  // a0 a1 | a2 a3
  std::vector<Coord> wk, wn, wm;
  dealAtoms(l, 1, order.kOfStep(), k, grid.k, wk);
  replicate(l, grid.n, wn);
  dealAtoms(l, 0, 16, m, grid.m, wm);
  joinWarps(l, wk, wn, wm, warp_bits);
  return l;
}

Layout operandB(int k, int n, const Grid& grid, FragmentOrder order, int warp_bits) {
  Layout l{.rank = 2};
  const int kw = order.k, nw = order.n, far = kw == 2 ? 8 : 2;
  l.lane = {{kw, 0}, {2 * kw, 0}, {0, nw}, {0, 2 * nw}, {0, 4 * nw}};
  l.reg = {{1, 0}};
  if (order.bytes == 1) l.reg.push_back({far, 0});
  if (nw == 2) l.reg.push_back({0, 1});
  l.reg.push_back({order.bytes == 1 ? 16 : far, 0});
  std::vector<Coord> wk, wn, wm;
  dealAtoms(l, 0, order.kOfStep(), k, grid.k, wk);
  dealAtoms(l, 1, 8 * nw, n, grid.n, wn);
  replicate(l, grid.m, wm);
  joinWarps(l, wk, wn, wm, warp_bits);
  return l;
}

Layout blocked(const std::vector<int32_t>& shape, int vector, int warp_bits) {
  Layout l{.rank = static_cast<int>(shape.size())};
  std::vector<std::pair<int, int>> bits;  // (dim, step), fastest first
  for (int d = l.rank - 1; d >= 0; d--)
    for (int step = 1; step < shape[d]; step *= 2) bits.push_back({d, step});
  size_t next = 0;
  auto take = [&](std::vector<Coord>& to, int count) {
    for (int i = 0; i < count; i++) {
      Coord c(l.rank, 0);
      if (next < bits.size()) {
        c[bits[next].first] = bits[next].second;
        next++;
      }
      to.push_back(c);
    }
  };
  const int vector_bits = std::min<int>(log2Of(vector), static_cast<int>(bits.size()));
  take(l.reg, vector_bits);
  take(l.lane, 5);
  take(l.warp, warp_bits);
  take(l.reg, static_cast<int>(bits.size() - std::min(next, bits.size())));
  return l;
}

Layout sliceOf(const Layout& parent, int dim) {
  Layout l{.rank = parent.rank - 1};
  auto drop = [&](Coord c) {
    c.erase(c.begin() + dim);
    return c;
  };
  for (const Coord& c : parent.reg)
    if (Coord d = drop(c); !isZero(d)) l.reg.push_back(d);
  for (const Coord& c : parent.lane) l.lane.push_back(drop(c));
  for (const Coord& c : parent.warp) l.warp.push_back(drop(c));
  return l;
}

Layout inflate(const Layout& child, int dim, int size) {
  Layout l{.rank = child.rank + 1};
  auto grow = [&](Coord c) {
    c.insert(c.begin() + dim, 0);
    return c;
  };
  for (int step = 1; step < size; step *= 2) {
    Coord c(l.rank, 0);
    c[dim] = step;
    l.reg.push_back(c);
  }
  for (const Coord& c : child.reg) l.reg.push_back(grow(c));
  for (const Coord& c : child.lane) l.lane.push_back(grow(c));
  for (const Coord& c : child.warp) l.warp.push_back(grow(c));
  return l;
}

Layout transposed(const Layout& layout) {
  Layout l = layout;
  for (auto* bases : {&l.reg, &l.lane, &l.warp})
    for (Coord& c : *bases) std::swap(c[0], c[1]);
  return l;
}

Layout summed(Layout layout) {
  layout.partial = 0;
  return layout;
}

}  // namespace nereid::layout
