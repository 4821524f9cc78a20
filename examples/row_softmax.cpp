// y = softmax of each row of x, f32 [rows, cols]. A block has whole rows, so that each reduction stays inside it.
#include <bit>
#include <cmath>
#include <numbers>

#include "examples/example.h"

using namespace nereid;
using dsl::Builder, dsl::Type, dsl::Value;

constexpr int kRows = 4;  // of a block

// `cols` is a constant of the kernel: every width gets a kernel of its own.
static void rowSoftmax(Builder& b, int cols) {
  const Value row = b.programId() * kRows + b.range(kRows);                        // [kRows]
  const Value col = b.range(static_cast<int64_t>(std::bit_ceil(unsigned(cols))));  // [a power of two from cols on]
  const Value live = (row < b.arg("rows")).col() & (col < cols).row();             // [kRows, width]
  const Value at = (row.to(Type::I64) * cols).col() + col.to(Type::I64).row();

  const Value x = b.load(b.pointer("x", Type::F32), at, live, -INFINITY);
  const Value power = exp2((x - reduceMax(x, 1).col()) * std::numbers::log2e);
  b.store(b.pointer("y", Type::F32), at, power / reduceSum(power, 1).col(), live);
}

static Status run(example::Example& e) {
  const int64_t rows = e.size("rows", 37), cols = e.size("cols", 1000);
  std::vector<float> x = example::uniform(rows * cols, 1), y(x.size());
  for (float& v : x) v *= 8;

  const ArgList args = {{"x", ArgType::kPointer, 16}, {"y", ArgType::kPointer, 16}, {"rows", ArgType::kI32}};
  NEREID_TRY(dsl::Program program, dsl::record("row_softmax", args, [&](Builder& b) { rowSoftmax(b, static_cast<int>(cols)); }));
  NEREID_TRY(const Schedule schedule, e.schedule("warps=4"));
  return e.run(std::move(program), schedule, (rows + kRows - 1) / kRows,
               {{"x", api::input(x)}, {"y", api::output(y)}, {"rows", rows}}, 4e-6, [&] {
                 std::vector<double> expected;
                 for (int64_t r = 0; r < rows; r++) {
                   double sum = 0;
                   for (int64_t c = 0; c < cols; c++) sum += std::exp(double{x[size_t(r * cols + c)]});
                   for (int64_t c = 0; c < cols; c++) expected.push_back(std::exp(double{x[size_t(r * cols + c)]}) / sum);
                 }
                 return example::worstError({y.begin(), y.end()}, expected);
               });
}

int main(int argc, char** argv) { return example::start(argc, argv, "softmax of rows; sizes rows, cols", run); }
