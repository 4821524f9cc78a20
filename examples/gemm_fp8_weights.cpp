// C [m, n] f16 = X [m, k] f16 · W [n, k]ᵀ, W in e4m3 with an f32 scale for each block of 128 x 128. n and k are multiples of 128.
#include "api/number_formats.h"
#include "examples/example.h"

using namespace nereid;
using dsl::Builder, dsl::Type, dsl::Value;

constexpr int kBlock = 128;

// e4m3 is exact in f16, so the products are too. The scale is one number for a tile of W and multiplies the tile's product.
static void gemm(Builder& b, int tile_m, int tile_n) {
  const Value m = b.arg("m"), n = b.arg("n"), k = b.arg("k");
  const Value tiles_n = n / tile_n, tile = b.programId().to(Type::I64);
  const Value row = tile / tiles_n * tile_m + b.range(tile_m).to(Type::I64);
  const Value first_col = tile % tiles_n * tile_n, col = first_col + b.range(tile_n).to(Type::I64), blocks_k = k / kBlock;

  std::vector<Value> state = {b.full(0., Type::F32, {tile_m, tile_n})};
  b.loop("k", 0, blocks_k.to(Type::I32), state, [&](Value i, std::vector<Value>& sum) {
    const Value at = i.to(Type::I64) * kBlock;
    const Value x = b.gatherRows(b.pointer("x", Type::I8), (row * k + at) * 2, kBlock * 2, row < m, 16);
    const Value w = b.gatherRows(b.pointer("w", Type::I8), col * k + at, kBlock, col < n, 16);
    const Value scale = b.loadScalar(b.pointer("scales", Type::F32), first_col / kBlock * blocks_k + i.to(Type::I64));
    const Value product = b.dot("main", b.view(x, 0, Type::F16, kBlock), trans(b.view(w, 0, Type::F8E4M3, kBlock).to(Type::F16)),
                                b.full(0., Type::F32, {tile_m, tile_n}));
    sum[0] = sum[0] + product * scale;
  });
  b.store(b.pointer("c", Type::F16), (row * n).col() + col.row(), state[0].to(Type::F16), (row < m).col());
}

constexpr const char* kSchedule =
    "tile.m=64,tile.n=128,roles=load+main,role.load.warps=4,role.main.warps=8,role.main.dots=main,grid.main=2x4x1,stages=2";

static Status run(example::Example& e) {
  const int64_t m = e.size("m", 100), n = e.size("n", 256), k = e.size("k", 384);
  if (n % kBlock || k % kBlock) return Diag{Code::kUsage, "n and k are multiples of 128", "command line", "pass n=256 k=512"};
  std::vector<uint16_t> x, c(static_cast<size_t>(m * n));
  for (float v : example::uniform(m * k, 1)) x.push_back(api::encodeF16(v));
  std::vector<uint8_t> w;
  for (float v : example::uniform(n * k, 2)) w.push_back(api::encodeE4M3(448 * v));
  std::vector<float> scales = example::uniform((n / kBlock) * (k / kBlock), 3);
  for (float& s : scales) s = (1.5f + s) / 448;

  NEREID_TRY(const Schedule schedule, e.schedule(kSchedule));
  const int tile_m = schedule.tile.at("m"), tile_n = schedule.tile.at("n");
  const ArgList args = {{"x", ArgType::kPointer, 16}, {"w", ArgType::kPointer, 16}, {"scales", ArgType::kPointer, 4},
                        {"c", ArgType::kPointer, 16}, {"m", ArgType::kI64},         {"n", ArgType::kI64, kBlock},
                        {"k", ArgType::kI64, kBlock}};
  NEREID_TRY(dsl::Program program, dsl::record("gemm_fp8_weights", args, [&](Builder& d) { gemm(d, tile_m, tile_n); }));
  return e.run(std::move(program), schedule, ((m + tile_m - 1) / tile_m) * (n / tile_n),
               {{"x", api::input(x)},
                {"w", api::input(w)},
                {"scales", api::input(scales)},
                {"c", api::output(c)},
                {"m", m},
                {"n", n},
                {"k", k}},
               6e-4, [&] {
                 std::vector<double> got, expected;
                 for (int64_t i : example::checkedRows(m, n * k))
                   for (int64_t j = 0; j < n; j++) {
                     double sum = 0;
                     for (int64_t l = 0; l < k; l++)
                       sum += double{api::decodeF16(x[size_t(i * k + l)])} * api::decodeE4M3(w[size_t(j * k + l)]) *
                              scales[size_t(j / kBlock * (k / kBlock) + l / kBlock)];
                     expected.push_back(sum);
                     got.push_back(api::decodeF16(c[size_t(i * n + j)]));
                   }
                 return example::worstError(got, expected);
               });
}

int main(int argc, char** argv) {
  return example::start(argc, argv, "C = X * W^T, X in f16, W in e4m3 with block scales; sizes m, n, k", run);
}
