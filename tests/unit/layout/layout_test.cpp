// Register layouts against the fragment maps of the PTX ISA ("Matrix fragments for mma.m16n8k16", m16n8k32): products through
// fragments are compared with products of matrices, and every constructor is checked to hold each element in one place a copy.
#include "compiler/layout/layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
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

// A and B as numbers without a pattern (splitmix64), so that any pairing but the right one changes the sum.
int64_t scrambled(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<int64_t>((x ^ x >> 31) & 0xffffff) - 0x800000;
}
int64_t valueA(int m, int k) { return scrambled(static_cast<uint64_t>(m * 1000 + k)); }
int64_t valueB(int k, int n) { return scrambled(static_cast<uint64_t>(1000000 + k * 1000 + n)); }

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

// One mma of all lanes, m16n8k16 with e = 2 elements a word and m16n8k32 with e = 4. The maps are the manual's: a[i] of lane 4g+t
// is (g + 8·(i/e odd), e·t + i%e + 4e·(i ≥ 2e)); b[i] is (e·t + i%e + 4e·(i ≥ e), g); c[i] is (g + 8·(i ≥ 2), 2t + i%2).
void mma(int e, const int64_t (&a)[kLanes][16], const int64_t (&b)[kLanes][8], int64_t (&c)[kLanes][4]) {
  int64_t ma[16][32], mb[32][8];
  for (int lane = 0; lane < kLanes; lane++) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4 * e; i++) ma[g + 8 * (i / e % 2)][e * t + i % e + 4 * e * (i / (2 * e))] = a[lane][i];
    for (int i = 0; i < 2 * e; i++) mb[e * t + i % e + 4 * e * (i / e)][g] = b[lane][i];
  }
  for (int lane = 0; lane < kLanes; lane++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 8 * e; k++) c[lane][i] += ma[lane / 4 + 8 * (i / 2)][k] * mb[k][2 * (lane % 4) + i % 2];
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
  const int e = 4 / order.bytes, nw = lc.reg[0][1], kk = la.reg[order.bytes == 1 ? 3 : 2][1];
  std::set<int> rows, cols, steps;
  for (const auto& [c, r] : fc.at) {
    if (c[0] % 16 == 0) rows.insert(c[0]);
    if (fc.at.contains({c[0], c[1] + nw}) && c[1] / nw % 2 == 0) cols.insert(c[1]);
  }
  for (const auto& [c, r] : fa.at)
    if (c[1] % (8 * e) == 0) steps.insert(c[1]);

  std::map<Coord, int64_t> got;
  for (int w = 0; w < grid.warps(); w++) {
    std::vector<std::vector<int64_t>> c(kLanes, std::vector<int64_t>(static_cast<size_t>(lc.registers())));
    for (int row : rows)
      for (int col : cols)
        for (int step : steps) {
          const int ra[4] = {fa.reg(row, step), fa.reg(row + 8, step), fa.reg(row, step + kk), fa.reg(row + 8, step + kk)};
          const int rb[2] = {fb.reg(step, col), fb.reg(step + kk, col)};
          const int rc[4] = {fc.reg(row, col), fc.reg(row, col + nw), fc.reg(row + 8, col), fc.reg(row + 8, col + nw)};
          int64_t a[kLanes][16], b[kLanes][8], d[kLanes][4];
          for (int lane = 0; lane < kLanes; lane++) {
            // An operand word is e registers that follow each other.
            for (int i = 0; i < 4 * e; i++) {
              const Coord x = la.at(ra[i / e] + i % e, lane, w);
              a[lane][i] = valueA(x[0], x[1]);
            }
            for (int i = 0; i < 2 * e; i++) {
              const Coord x = lb.at(rb[i / e] + i % e, lane, w);
              b[lane][i] = valueB(x[0], x[1]);
            }
            for (int i = 0; i < 4; i++) d[lane][i] = c[static_cast<size_t>(lane)][static_cast<size_t>(rc[i])];
          }
          mma(e, a, b, d);
          for (int lane = 0; lane < kLanes; lane++)
            for (int i = 0; i < 4; i++) c[static_cast<size_t>(lane)][static_cast<size_t>(rc[i])] = d[lane][i];
        }
    for (int lane = 0; lane < kLanes; lane++)
      for (int r = 0; r < lc.registers(); r++) got[lc.at(r, lane, w)] += c[static_cast<size_t>(lane)][static_cast<size_t>(r)];
  }
  int wrong = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      int64_t sum = 0;
      for (int x = 0; x < k; x++) sum += valueA(i, x) * valueB(x, j);
      wrong += got[{i, j}] != sum;
    }
  CHECK(wrong == 0);
}

// One 8 x 8 matrix of ldmatrix (PTX ISA, "ldmatrix", fragment layout of .b16): lane 4r+t gets bytes 4t … 4t+3 of row r; with
// .trans the 16-bit units (2t, r) and (2t+1, r), of which single bytes then change places (prmt 0x3120). Rows and bytes count
// from the matrix's origin.
struct Byte {
  int row, column;
};
std::array<Byte, 4> loadedBytes(int lane, bool transposed, bool bytes) {
  const int r = lane / 4, t = lane % 4;
  if (!transposed) return {{{r, 4 * t}, {r, 4 * t + 1}, {r, 4 * t + 2}, {r, 4 * t + 3}}};
  const std::array<Byte, 4> units = {{{2 * t, 2 * r}, {2 * t, 2 * r + 1}, {2 * t + 1, 2 * r}, {2 * t + 1, 2 * r + 1}}};
  return bytes ? std::array<Byte, 4>{units[0], units[2], units[1], units[3]} : units;
}

// Every operand word of every lane and warp is what one matrix gives. `row_dim` is the tile's dimension along rows in memory.
void checkLdmatrix(const Layout& l, int element_bytes, int row_dim, bool transposed) {
  CAPTURE(l.text());
  const int per_word = 4 / element_bytes;
  int wrong = 0;
  for (int w = 0; w < extent(l.warp); w++)
    for (int r = 0; r < l.registers(); r += per_word) {
      const Coord origin = l.at(r, 0, w);
      wrong += origin[1 - row_dim] * element_bytes % 16 != 0;
      for (int lane = 0; lane < kLanes; lane++) {
        const auto bytes = loadedBytes(lane, transposed, element_bytes == 1);
        for (int i = 0; i < per_word; i++) {
          const Coord c = l.at(r + i, lane, w);
          const Byte at = bytes[static_cast<size_t>(i * element_bytes)];
          wrong += c[row_dim] - origin[row_dim] != at.row || (c[1 - row_dim] - origin[1 - row_dim]) * element_bytes != at.column;
        }
      }
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("operands come from ldmatrix: halves in both forms, bytes along k four a lane, bytes along n two by two") {
  for (Grid grid : {Grid{1, 1, 1}, Grid{2, 1, 1}, Grid{1, 2, 1}, Grid{1, 1, 2}, Grid{1, 2, 2}}) {
    int bits = 0;
    while (1 << bits < grid.warps()) bits++;
    checkLdmatrix(operandA(32, 64, grid, {2, 1}, bits), 2, 0, false);
    checkLdmatrix(operandB(64, 32, grid, {2, 1}, bits), 2, 1, false);
    checkLdmatrix(operandB(64, 32, grid, {2, 1}, bits), 2, 0, true);
    checkLdmatrix(operandB(64, 32, grid, {4, 1}, bits), 1, 1, false);
    checkLdmatrix(operandB(64, 32, grid, {2, 2}, bits), 1, 0, true);
    checkLdmatrix(operandA(32, 64, grid, {4, 1, 1}, bits), 1, 0, false);
    checkLdmatrix(operandB(64, 32, grid, {4, 1, 1}, bits), 1, 1, false);
  }
}

TEST_CASE("products through fragments, for every order of operands and grid of warps") {
  for (FragmentOrder order : {FragmentOrder{2, 1}, FragmentOrder{4, 1}, FragmentOrder{2, 2}, FragmentOrder{2, 1, 1},
                              FragmentOrder{4, 1, 1}, FragmentOrder{2, 2, 1}})
    for (Grid grid : {Grid{1, 1, 1}, Grid{2, 1, 1}, Grid{1, 2, 1}, Grid{1, 1, 2}, Grid{2, 2, 1}, Grid{1, 2, 2}, Grid{2, 1, 4}})
      for (int m : {16, 32})
        for (int n : {16, 32})
          for (int k : {32, 64}) {
            if (m < 16 * grid.m || n < 8 * order.n * grid.n || k < order.kOfStep() * grid.k) continue;
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
  checkCovers(operandA(32, 64, {2, 1, 2}, {2, 2, 1}, 2), {32, 64});
  checkCovers(operandB(64, 32, {1, 2, 2}, {2, 2, 1}, 2), {64, 32});
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
