// C [m, n] = A [m, k] · B [n, k]ᵀ, bf16 with sums in f32. n is a multiple of 8, k of the schedule's tile.k.
#include "api/number_formats.h"
#include "examples/example.h"

using namespace nereid;
using dsl::Builder, dsl::Type, dsl::Value;

static void gemm(Builder& b, int tile_m, int tile_n, int tile_k) {
  const Value m = b.arg("m"), n = b.arg("n"), k = b.arg("k");
  const Value tiles_n = ceilDiv(n, tile_n), tile = b.programId().to(Type::I64);
  const Value row = tile / tiles_n * tile_m + b.range(tile_m).to(Type::I64);
  const Value col = tile % tiles_n * tile_n + b.range(tile_n).to(Type::I64);

  std::vector<Value> state = {b.full(0., Type::F32, {tile_m, tile_n})};
  b.loop("k", 0, (k / tile_k).to(Type::I32), state, [&](Value i, std::vector<Value>& sum) {
    const Value at = i.to(Type::I64) * tile_k;
    const Value x = b.gatherRows(b.pointer("a", Type::I8), (row * k + at) * 2, tile_k * 2, row < m, 16);
    const Value y = b.gatherRows(b.pointer("b", Type::I8), (col * k + at) * 2, tile_k * 2, col < n, 16);
    sum[0] = b.dot("main", b.view(x, 0, Type::BF16, tile_k), trans(b.view(y, 0, Type::BF16, tile_k)), sum[0]);
  });
  b.store(b.pointer("c", Type::BF16), (row * n).col() + col.row(), state[0].to(Type::BF16), (row < m).col() & (col < n).row());
}

// One role loads ahead into a ring of two slots, the other multiplies.
constexpr const char* kSchedule =
    "tile.m=128,tile.n=128,tile.k=64,roles=load+main,role.load.warps=4,role.main.warps=8,role.main.dots=main,grid.main=4x2x1,"
    "stages=2";

static Status run(example::Example& e) {
  const int64_t m = e.size("m", 200), n = e.size("n", 136), k = e.size("k", 320);
  std::vector<uint16_t> a, b, c(static_cast<size_t>(m * n));
  for (float x : example::uniform(m * k, 1)) a.push_back(api::encodeBF16(x));
  for (float x : example::uniform(n * k, 2)) b.push_back(api::encodeBF16(x));

  NEREID_TRY(const Schedule schedule, e.schedule(kSchedule));
  const int tile_m = schedule.tile.at("m"), tile_n = schedule.tile.at("n"), tile_k = schedule.tile.at("k");
  const ArgList args = {{"a", ArgType::kPointer, 16}, {"b", ArgType::kPointer, 16}, {"c", ArgType::kPointer, 16},
                        {"m", ArgType::kI64},         {"n", ArgType::kI64, 8},      {"k", ArgType::kI64, tile_k}};
  NEREID_TRY(dsl::Program program, dsl::record("gemm_bf16", args, [&](Builder& d) { gemm(d, tile_m, tile_n, tile_k); }));
  const int64_t blocks = ((m + tile_m - 1) / tile_m) * ((n + tile_n - 1) / tile_n);
  return e.run(std::move(program), schedule, blocks,
               {{"a", api::input(a)}, {"b", api::input(b)}, {"c", api::output(c)}, {"m", m}, {"n", n}, {"k", k}}, 4e-3, [&] {
                 std::vector<double> got, expected;
                 for (int64_t i : example::checkedRows(m, n * k))
                   for (int64_t j = 0; j < n; j++) {
                     double sum = 0;
                     for (int64_t l = 0; l < k; l++)
                       sum += double{api::decodeBF16(a[size_t(i * k + l)])} * api::decodeBF16(b[size_t(j * k + l)]);
                     expected.push_back(sum);
                     got.push_back(api::decodeBF16(c[size_t(i * n + j)]));
                   }
                 return example::worstError(got, expected);
               });
}

int main(int argc, char** argv) { return example::start(argc, argv, "C = A * B^T in bf16; sizes m, n, k", run); }
