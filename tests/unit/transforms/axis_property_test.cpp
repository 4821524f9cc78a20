// What the axis analysis claims, against values: random expressions are built and computed side by side, and every step, divisor
// and group is checked element by element.
#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "compiler/dialect/tile_dialect.h"
#include "compiler/transforms/axis_info.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace nereid;
using namespace nereid::tile;

namespace {

constexpr int kRows = 8, kCols = 16;

// A [kRows, kCols] tile, or a vector of either length, with its elements.
struct Known {
  mlir::Value value;
  std::vector<int64_t> elements;
};

struct Expressions {
  explicit Expressions(uint32_t seed) : random(seed), b(&context) {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect>();
    module = mlir::ModuleOp::create(loc());
    b.setInsertionPointToEnd(module->getBody());
    for (int align : {1, 4, 16}) arguments.push_back({b.getI64Type(), align});
    llvm::SmallVector<mlir::Type> types;
    for (auto& [type, align] : arguments) types.push_back(type);
    func = mlir::func::FuncOp::create(b, loc(), "f", b.getFunctionType(types, {}));
    mlir::Block* entry = func.addEntryBlock();
    for (size_t i = 0; i < arguments.size(); i++) {
      func.setArgAttr(static_cast<unsigned>(i), kAlignAttr, b.getI32IntegerAttr(arguments[i].second));
      scalars.push_back({entry->getArgument(static_cast<unsigned>(i)), {(pick(41) - 20) * arguments[i].second}});
    }
    b.setInsertionPointToEnd(entry);
  }

  mlir::Location loc() { return mlir::UnknownLoc::get(&context); }
  int pick(int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); }
  mlir::RankedTensorType type(std::vector<int64_t> shape, mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }

  Known constant(int64_t x) {
    auto t = type({kRows, kCols}, b.getI64Type());
    return {mlir::arith::ConstantOp::create(b, loc(), mlir::DenseElementsAttr::get(t, x)),
            std::vector<int64_t>(kRows * kCols, x)};
  }

  // start, start + 1, … as 64 bits, times one of `factors` powers of two, along dimension `dim` of a matrix.
  Known range(int dim, int factors = 5) {
    const int n = dim == 0 ? kRows : kCols, start = pick(5) * 4;
    const int64_t factor = int64_t{1} << pick(factors);
    mlir::Value r = RangeOp::create(b, loc(), type({n}, b.getI32Type()), static_cast<uint32_t>(start));
    r = mlir::arith::ExtSIOp::create(b, loc(), type({n}, b.getI64Type()), r);
    auto c = mlir::arith::ConstantOp::create(b, loc(), mlir::DenseElementsAttr::get(type({n}, b.getI64Type()), factor));
    r = mlir::arith::MulIOp::create(b, loc(), r, c);
    Known k{BroadcastOp::create(b, loc(), type({kRows, kCols}, b.getI64Type()), r, static_cast<uint32_t>(dim)), {}};
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < kCols; j++) k.elements.push_back(factor * (start + (dim == 0 ? i : j)));
    return k;
  }

  Known splat() {
    const Known& s = scalars[static_cast<size_t>(pick(static_cast<int>(scalars.size())))];
    return {SplatOp::create(b, loc(), type({kRows, kCols}, b.getI64Type()), s.value),
            std::vector<int64_t>(kRows * kCols, s.elements[0])};
  }

  template <typename Op>
  Known join(const Known& x, const Known& y, const std::function<int64_t(int64_t, int64_t)>& f) {
    Known k{Op::create(b, loc(), x.value, y.value), {}};
    for (size_t i = 0; i < x.elements.size(); i++) k.elements.push_back(f(x.elements[i], y.elements[i]));
    return k;
  }

  Known integers(int depth) {
    switch (depth ? pick(9) : pick(4)) {
      case 0: return constant((pick(2) ? 1 : 3) * (int64_t{1} << pick(6)));
      case 1: return range(0);
      case 2: return range(1);
      case 3: return splat();
      case 4: return join<mlir::arith::SubIOp>(integers(depth - 1), integers(depth - 1), std::minus<>());
      case 5: return join<mlir::arith::MulIOp>(integers(depth - 1), constant(pick(7) - 3), std::multiplies<>());
      case 6: return join<mlir::arith::MulIOp>(integers(depth - 1), integers(depth - 1), std::multiplies<>());
      case 7:
        return join<mlir::arith::ShLIOp>(integers(depth - 1), constant(pick(4)), [](int64_t x, int64_t y) { return x << y; });
      default: return join<mlir::arith::AddIOp>(integers(depth - 1), integers(depth - 1), std::plus<>());
    }
  }

  Known mask(int depth) {
    if (depth && pick(3) == 0) return join<mlir::arith::AndIOp>(mask(depth - 1), mask(depth - 1), std::bit_and<>());
    if (depth && pick(3) == 0) return join<mlir::arith::OrIOp>(mask(depth - 1), mask(depth - 1), std::bit_or<>());
    const Known x = integers(depth), y = integers(depth);
    Known k{mlir::arith::CmpIOp::create(b, loc(), mlir::arith::CmpIPredicate::slt, x.value, y.value), {}};
    for (size_t i = 0; i < x.elements.size(); i++) k.elements.push_back(x.elements[i] < y.elements[i]);
    return k;
  }

  std::mt19937 random;
  mlir::MLIRContext context;
  mlir::OpBuilder b;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  std::vector<std::pair<mlir::Type, int>> arguments;
  std::vector<Known> scalars;
  AxisAnalysis axis;
};

// Counts of claims that say something, so that an analysis that knows nothing does not pass.
struct Claims {
  int steps = 0, divisors = 0, groups = 0, vectors = 0;
};

int64_t at(const Known& k, int i, int j) { return k.elements[static_cast<size_t>(i * kCols + j)]; }

void checkIntegers(const AxisInfo& info, const Known& k, Claims& claims) {
  int wrong = 0;
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kCols; j++) {
      if (info.step[0] && i) wrong += at(k, i, j) - at(k, i - 1, j) != *info.step[0];
      if (info.step[1] && j) wrong += at(k, i, j) - at(k, i, j - 1) != *info.step[1];
      const int64_t base = at(k, i, j) - info.step[0].value_or(0) * i - info.step[1].value_or(0) * j;
      wrong += base % info.divisor != 0;
    }
  CHECK(wrong == 0);
  claims.steps += info.step[0].value_or(0) != 0 || info.step[1].value_or(0) != 0;
  claims.divisors += info.divisor > 1;
}

void checkMask(const AxisInfo& info, const Known& k, Claims& claims) {
  int wrong = 0;
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kCols; j++) {
      wrong += at(k, i, j) != at(k, static_cast<int>(i - i % info.group[0]), j);
      wrong += at(k, i, j) != at(k, i, static_cast<int>(j - j % info.group[1]));
    }
  CHECK(wrong == 0);
  claims.groups += info.group[0] > 1 || info.group[1] > 1;
}

// An access of `width` elements from an aligned base: they follow each other, start at a multiple of their size, and share a
// mask.
void checkVectors(int width, const Known& offsets, const Known& mask, Claims& claims) {
  int wrong = 0;
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kCols; j++) {
      const int first = j - j % width;
      wrong += at(offsets, i, j) != at(offsets, i, first) + j - first;
      wrong += at(offsets, i, first) % width != 0;
      wrong += at(mask, i, j) != at(mask, i, first);
    }
  CHECK(wrong == 0);
  claims.vectors += width > 1;
}

}  // namespace

TEST_CASE("claims about random expressions hold for each element") {
  Claims claims;
  for (uint32_t seed = 0; seed < 60; seed++) {
    CAPTURE(seed);
    Expressions e(seed);
    for (int n = 0; n < 20; n++) {
      const Known x = e.integers(3);
      checkIntegers(e.axis.of(x.value), x, claims);
      const Known m = e.mask(2);
      checkMask(e.axis.of(m.value), m, claims);
      const Known o = e.join<mlir::arith::AddIOp>(e.integers(1), e.range(1, 1), std::plus<>());
      checkVectors(e.axis.vectorWidth(o.value, m.value, 4, 16), o, m, claims);
    }
  }
  CHECK(claims.steps > 300);
  CHECK(claims.divisors > 300);
  CHECK(claims.groups > 300);
  CHECK(claims.vectors > 100);
}
