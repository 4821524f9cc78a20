// Rows of a paged pool by position: out[i] = row at positions[i], decoded to f32; a position of -1 gives zeros.
//
// Position p is slot p % 16 of page page_table[p / 16]. A row has 144 bytes: 128 values in e4m3, then their scale in f32; 12
// bytes keep rows at multiples of 16.
#include <cstring>
#include <random>

#include "api/number_formats.h"
#include "examples/example.h"

using namespace nereid;
using dsl::Builder, dsl::Type, dsl::Value;

constexpr int kSlots = 16, kCols = 128, kRowBytes = 144;
constexpr int kRows = 32;  // of a block

static void pagedGather(Builder& b) {
  const Value i = b.programId().to(Type::I64) * kRows + b.range(kRows).to(Type::I64), live = i < b.arg("count");
  const Value position = b.load(b.pointer("positions", Type::I32), i, live, -1), found = position >= 0;
  const Value page = b.load(b.pointer("page_table", Type::I32), divUnsigned(position, kSlots), found, 0);
  const Value row = (page * kSlots + remUnsigned(position, kSlots)).to(Type::I64);

  const Value bytes = b.gatherRows(b.pointer("pool", Type::I8), row * kRowBytes, kRowBytes, found, 16);
  const Value values = b.view(bytes, 0, Type::F8E4M3, kCols).to(Type::F32);  // [kRows, kCols]
  const Value scale = b.column(bytes, kCols, Type::F32);                     // [kRows]
  b.store(b.pointer("out", Type::F32), (i * kCols).col() + b.range(kCols).to(Type::I64).row(), values * scale.col(), live.col());
}

static Status run(example::Example& e) {
  const int64_t count = e.size("count", 1000), pages = e.size("pages", 64);
  std::mt19937 random(1);
  std::vector<uint8_t> pool(static_cast<size_t>(pages * kSlots * kRowBytes), 0xFF);  // NaN where no row is
  for (size_t at = 0; at < pool.size(); at += kRowBytes) {
    for (int c = 0; c < kCols; c++) pool[at + c] = api::encodeE4M3(static_cast<float>(random() % 897) - 448.0f);
    const float scale = static_cast<float>(1 + random() % 1000) * 0x1p-16f;
    std::memcpy(&pool[at + kCols], &scale, sizeof(scale));
  }
  std::vector<int32_t> page_table(static_cast<size_t>(pages)), positions(static_cast<size_t>(count));
  for (size_t p = 0; p < page_table.size(); p++) page_table[p] = static_cast<int32_t>(page_table.size() - 1 - p);
  for (int32_t& p : positions) p = random() % 8 ? static_cast<int32_t>(random() % uint64_t(pages * kSlots)) : -1;
  std::vector<float> out(static_cast<size_t>(count * kCols));

  const ArgList args = {{"pool", ArgType::kPointer, 16},
                        {"page_table", ArgType::kPointer, 4},
                        {"positions", ArgType::kPointer, 4},
                        {"out", ArgType::kPointer, 16},
                        {"count", ArgType::kI64}};
  NEREID_TRY(dsl::Program program, dsl::record("paged_gather", args, pagedGather));
  NEREID_TRY(const Schedule schedule, e.schedule("warps=4"));
  return e.run(std::move(program), schedule, (count + kRows - 1) / kRows,
               {{"pool", api::input(pool)},
                {"page_table", api::input(page_table)},
                {"positions", api::input(positions)},
                {"out", api::output(out)},
                {"count", count}},
               6e-8, [&] {
                 std::vector<double> expected;
                 for (int32_t p : positions)
                   for (int c = 0; c < kCols; c++) {
                     if (p < 0) {
                       expected.push_back(0);
                       continue;
                     }
                     const uint8_t* row = &pool[size_t(page_table[size_t(p / kSlots)] * kSlots + p % kSlots) * kRowBytes];
                     float scale;
                     std::memcpy(&scale, row + kCols, sizeof(scale));
                     expected.push_back(double{api::decodeE4M3(row[c])} * scale);
                   }
                 return example::worstError({out.begin(), out.end()}, expected);
               });
}

int main(int argc, char** argv) { return example::start(argc, argv, "rows of a paged pool; sizes count, pages", run); }
