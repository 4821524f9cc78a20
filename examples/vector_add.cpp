// z = x + y, f32. A block adds one tile; a mask keeps the last one inside the arrays.
#include "examples/example.h"

using namespace nereid;
using dsl::Builder, dsl::Type, dsl::Value;

constexpr int kTile = 1024;

static void vectorAdd(Builder& b) {
  const Value i = b.programId().to(Type::I64) * kTile + b.range(kTile).to(Type::I64), live = i < b.arg("n");
  const Value x = b.load(b.pointer("x", Type::F32), i, live), y = b.load(b.pointer("y", Type::F32), i, live);
  b.store(b.pointer("z", Type::F32), i, x + y, live);
}

static Status run(example::Example& e) {
  const int64_t n = e.size("n", 100'003);
  const std::vector<float> x = example::uniform(n, 1), y = example::uniform(n, 2);
  std::vector<float> z(x.size());

  const ArgList args = {
      {"x", ArgType::kPointer, 16}, {"y", ArgType::kPointer, 16}, {"z", ArgType::kPointer, 16}, {"n", ArgType::kI64}};
  NEREID_TRY(dsl::Program program, dsl::record("vector_add", args, vectorAdd));
  NEREID_TRY(const Schedule schedule, e.schedule("warps=4"));
  return e.run(std::move(program), schedule, (n + kTile - 1) / kTile,
               {{"x", api::input(x)}, {"y", api::input(y)}, {"z", api::output(z)}, {"n", n}}, 6e-8, [&] {
                 std::vector<double> sum(x.begin(), x.end());
                 for (size_t i = 0; i < sum.size(); i++) sum[i] += double{y[i]};
                 return example::worstError({z.begin(), z.end()}, sum);
               });
}

int main(int argc, char** argv) { return example::start(argc, argv, "z = x + y; size n", run); }
