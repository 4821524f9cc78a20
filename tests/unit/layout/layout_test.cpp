// Register layouts against the fragment maps of the PTX ISA ("Matrix fragments for mma.m16n8k16"): products through fragments are
// compared with products of matrices, and every constructor is checked to hold each element in one place a copy.
#include "compiler/layout/layout.h"

#include <doctest/doctest.h>

#include <algorithm>

#include <map>
#include <set>

using namespace nereid;
using namespace nereid::layout;

namespace {

constexpr int kLanes = 32;

int extent(const std::vector<Coord>& bases) { return 1 << bases.size(); }

// Copies of an element: zero bases double it.
int copies(const Layout& l) {
  int n = 1;
  for (auto* bases : {&l.reg, &l.lane, &l.warp})
    for (const Coord& c : *bases) n *= std::all_of(c.begin(), c.end(), [](int x) { return x == 0; }) ? 2 : 1;
  return n;
}

// Every element of `shape` is somewhere, equally often.
void checkCovers(const Layout& l, const std::vector<int32_t>& shape) {
  CAPTURE(l.text());
  CHECK(l.shape() == shape);
  std::map<Coord, int> count;
  for (int w = 0; w < extent(l.warp); w++)
    for (int lane = 0; lane < kLanes; lane++)
      for (int r = 0; r < l.registers(); r++) count[l.at(r, lane, w)]++;
  size_t elements = 1;
  for (int s : shape) elements *= static_cast<size_t>(s);
  CHECK(count.size() == elements);
  for (const auto& [c, n] : count) CHECK(n == copies(l));
}

// A and B as small numbers that differ in each place, so that a wrong pairing changes the sum.
int valueA(int m, int k) { return (m * 7 + k * 3) % 11 - 5; }
int valueB(int k, int n) { return (k * 5 + n * 2) % 13 - 6; }

// Registers of a lane in the order of an instruction's operands, as lower_dot finds them: by offset from the step's origin.
struct Finder {
  explicit Finder(const Layout& l) : l(l) {
    for (int r = 0; r < l.registers(); r++) at[l.regOffset(r)] = r;
  }
  int reg(int x, int y) const {
    auto it = at.find({x, y});
    REQUIRE_MESSAGE(it != at.end(), l.text(), " at ", x, ", ", y);
    return it->second;
  }
  const Layout& l;
  std::map<Coord, int> at;
};

// One mma.m16n8k16 of all lanes. The maps are the manual's: a[i] of lane 4g+t is (g + 8·(i/2 odd), 2t + i%2 + 8·(i ≥ 4)); b[i] is
// (2t + i%2 + 8·(i ≥ 2), g); c[i] is (g + 8·(i ≥ 2), 2t + i%2).
void mma(const int (&a)[kLanes][8], const int (&b)[kLanes][4], int (&c)[kLanes][4]) {
  int ma[16][16], mb[16][8];
  for (int lane = 0; lane < kLanes; lane++) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 8; i++) ma[g + 8 * (i / 2 % 2)][2 * t + i % 2 + 8 * (i / 4)] = a[lane][i];
    for (int i = 0; i < 4; i++) mb[2 * t + i % 2 + 8 * (i / 2)][g] = b[lane][i];
  }
  for (int lane = 0; lane < kLanes; lane++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 16; k++) c[lane][i] += ma[lane / 4 + 8 * (i / 2)][k] * mb[k][2 * (lane % 4) + i % 2];
}

// The product of an m x k and a k x n matrix through fragments of all warps; addends of a split reduction are summed.
void checkDot(int m, int n, int k, const Grid& grid, FragmentOrder order) {
  int bits = 0;
  while (1 << bits < grid.warps()) bits++;
  const Layout la = operandA(m, k, grid, order, bits), lb = operandB(k, n, grid, order, bits);
  const Layout lc = accumulator(m, n, grid, order, bits, grid.k > 1);
  CAPTURE(la.text());
  CAPTURE(lb.text());
  CAPTURE(lc.text());
  const Finder fa(la), fb(lb), fc(lc);
  const int nw = lc.reg[0][1], kk = la.reg[2][1];
  std::set<int> rows, cols, steps;
  for (const auto& [c, r] : fc.at) {
    if (c[0] % 16 == 0) rows.insert(c[0]);
    if (fc.at.contains({c[0], c[1] + nw}) && c[1] / nw % 2 == 0) cols.insert(c[1]);
  }
  for (const auto& [c, r] : fa.at)
    if (c[1] % 16 == 0) steps.insert(c[1]);

  std::map<Coord, int> got;
  for (int w = 0; w < grid.warps(); w++) {
    std::vector<std::vector<int>> c(kLanes, std::vector<int>(static_cast<size_t>(lc.registers())));
    for (int row : rows)
      for (int col : cols)
        for (int step : steps) {
          const int ra[4] = {fa.reg(row, step), fa.reg(row + 8, step), fa.reg(row, step + kk), fa.reg(row + 8, step + kk)};
          const int rb[2] = {fb.reg(step, col), fb.reg(step + kk, col)};
          const int rc[4] = {fc.reg(row, col), fc.reg(row, col + nw), fc.reg(row + 8, col), fc.reg(row + 8, col + nw)};
          int a[kLanes][8], b[kLanes][4], d[kLanes][4];
          for (int lane = 0; lane < kLanes; lane++) {
            // An operand word is a pair of registers that follow each other.
            for (int i = 0; i < 8; i++) {
              const Coord x = la.at(ra[i / 2] + i % 2, lane, w);
              a[lane][i] = valueA(x[0], x[1]);
            }
            for (int i = 0; i < 4; i++) {
              const Coord x = lb.at(rb[i / 2] + i % 2, lane, w);
              b[lane][i] = valueB(x[0], x[1]);
            }
            for (int i = 0; i < 4; i++) d[lane][i] = c[static_cast<size_t>(lane)][static_cast<size_t>(rc[i])];
          }
          mma(a, b, d);
          for (int lane = 0; lane < kLanes; lane++)
            for (int i = 0; i < 4; i++) c[static_cast<size_t>(lane)][static_cast<size_t>(rc[i])] = d[lane][i];
        }
    for (int lane = 0; lane < kLanes; lane++)
      for (int r = 0; r < lc.registers(); r++) got[lc.at(r, lane, w)] += c[static_cast<size_t>(lane)][static_cast<size_t>(r)];
  }
  int wrong = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      int sum = 0;
      for (int x = 0; x < k; x++) sum += valueA(i, x) * valueB(x, j);
      wrong += got[{i, j}] != sum;
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("products through fragments, for every order of operands and grid of warps") {
  for (FragmentOrder order : {FragmentOrder{2, 1}, FragmentOrder{4, 1}, FragmentOrder{2, 2}})
    for (Grid grid : {Grid{1, 1, 1}, Grid{2, 1, 1}, Grid{1, 2, 1}, Grid{1, 1, 2}, Grid{2, 2, 1}, Grid{1, 2, 2}, Grid{2, 1, 4}})
      for (int m : {16, 32})
        for (int n : {16, 32})
          for (int k : {32, 64}) {
            if (m < 16 * grid.m || n < 8 * order.n * grid.n || k < 16 * grid.k) continue;
            CAPTURE(m);
            CAPTURE(n);
            CAPTURE(k);
            checkDot(m, n, k, grid, order);
          }
}

TEST_CASE("constructors hold each element once a copy") {
  const FragmentOrder order;
  checkCovers(accumulator(32, 64, {2, 2, 1}, order, 2, false), {32, 64});
  checkCovers(accumulator(16, 32, {1, 1, 4}, order, 2, true), {16, 32});
  checkCovers(operandA(32, 64, {2, 1, 2}, {4, 1}, 2), {32, 64});
  checkCovers(operandB(64, 32, {1, 2, 2}, {2, 2}, 2), {64, 32});
  for (int vector : {1, 2, 4, 8})
    for (int warp_bits : {0, 2, 3})
      for (auto shape : std::vector<std::vector<int32_t>>{{32, 32}, {16, 32}, {8, 8}, {64, 16}, {256}, {16}})
        checkCovers(blocked(shape, vector, warp_bits), shape);
}

TEST_CASE("warps beyond a grid hold copies") {
  const Layout l = accumulator(16, 16, {1, 2, 1}, {}, 3, false);
  REQUIRE(l.warp.size() == 3);
  for (int w = 0; w < 8; w++) CHECK(l.at(1, 5, w) == l.at(1, 5, w % 2));
}

TEST_CASE("rows of a joined sum stay in a warp: four columns a lane, then lanes, then warps") {
  for (int rows : {16, 32, 64})
    for (int warp_bits : {2, 3}) {
      const Layout l = blocked({rows, 32}, 4, warp_bits);
      std::map<int, std::set<int>> warps_of;
      for (int w = 0; w < 1 << warp_bits; w++)
        for (int lane = 0; lane < kLanes; lane++)
          for (int r = 0; r < l.registers(); r++) warps_of[l.at(r, lane, w)[0]].insert(w);
      const size_t same =
          static_cast<size_t>(std::max(1, (kLanes * 4 << warp_bits) / (rows * 32)));  // warps left over hold copies
      for (const auto& [row, warps] : warps_of) CHECK(warps.size() == same);
      for (int r = 0; r < 4; r++) CHECK(l.at(r, 0, 0) == Coord{0, r});
    }
}

TEST_CASE("a slice is what is left of the parent without a dimension") {
  const Layout parent = accumulator(32, 32, {1, 2, 1}, {}, 1, false);
  for (int dim : {0, 1}) {
    const Layout l = sliceOf(parent, dim);
    checkCovers(l, {32});
    std::map<std::pair<int, int>, std::set<int>> of_parent, of_slice;  // (lane, warp) → places
    for (int w = 0; w < 2; w++)
      for (int lane = 0; lane < kLanes; lane++) {
        for (int r = 0; r < parent.registers(); r++) of_parent[{lane, w}].insert(parent.at(r, lane, w)[1 - dim]);
        for (int r = 0; r < l.registers(); r++) of_slice[{lane, w}].insert(l.at(r, lane, w)[0]);
      }
    CHECK(of_parent == of_slice);
  }
}

TEST_CASE("inflate undoes sliceOf; transposed twice is the layout") {
  const Layout vector = blocked({64}, 2, 1);
  for (int dim : {0, 1}) {
    const Layout matrix = inflate(vector, dim, 8);
    checkCovers(matrix, dim == 0 ? std::vector<int32_t>{8, 64} : std::vector<int32_t>{64, 8});
    CHECK(sliceOf(matrix, dim) == vector);
  }
  const Layout l = operandB(64, 32, {1, 2, 1}, {}, 1);
  CHECK(transposed(transposed(l)) == l);
  CHECK(transposed(l).at(3, 17, 1) == Coord{l.at(3, 17, 1)[1], l.at(3, 17, 1)[0]});
}

TEST_CASE("registerAt finds what regOffset says, and nothing else") {
  const Layout l = accumulator(32, 16, {1, 1, 1}, {}, 0, false);
  for (int r = 0; r < l.registers(); r++) CHECK(l.registerAt(l.regOffset(r)) == r);
  CHECK(!l.registerAt({1, 0}));
}
