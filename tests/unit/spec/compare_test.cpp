// Comparison: what is within limits, what is over them, NaN and infinities, bytes, and tensors that cannot be compared.
#include "kernels_dsl/spec/compare.h"

#include <cmath>
#include <limits>

#include "tests/unit/spec/cases.h"

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

OutputComparison compareOne(const char* name, const Tensor& want, const Tensor& got, const Limits& limits = {}) {
  auto r = compareOutputs({{name, want}}, {{name, got}}, limits);
  if (!r.ok()) FAIL(r.diag().text());
  REQUIRE(r->size() == 1);
  CHECK(r->front().name == name);
  return r->front();
}

// [1, 1, rows, columns] of one value.
Tensor constantOut(int64_t rows, int64_t columns, float value) {
  Tensor t = zeros(DType::kBF16, {1, 1, rows, columns});
  for (int64_t i = 0; i < t.elements(); ++i) t.as<uint16_t>()[i] = encodeBF16(value);
  return t;
}

Tensor lseOf(std::vector<float> values) { return tensorOf<float>(DType::kF32, {1, int64_t(values.size()), 1}, values); }

}  // namespace

TEST_CASE("out: equal tensors have no error") {
  const OutputComparison c = compareOne("out", constantOut(4, 8, 1.5f), constantOut(4, 8, 1.5f));
  CHECK(c.ok);
  CHECK(c.rel_error == 0);
  CHECK(c.worst_row == 0);
  CHECK(c.limit == 3e-3);
}

TEST_CASE("out: one bad row of many is over the row's limit though the whole is under its own") {
  const Tensor want = constantOut(200, 64, 1.0f);
  Tensor got = constantOut(200, 64, 1.0f);
  for (int k = 0; k < 64; ++k) got.as<uint16_t>()[137 * 64 + k] = encodeBF16(1.0f + 1.0f / 128);  // 7.8e-3
  const OutputComparison c = compareOne("out", want, got);
  CHECK(c.rel_error < 3e-3);
  CHECK(c.worst_row == doctest::Approx(1.0 / 128));
  CHECK(c.worst_index == 137);
  CHECK(c.max_abs == 1.0 / 128);
  CHECK(c.mismatches == 0);
  CHECK_FALSE(c.ok);
  CHECK(compareOne("out", want, got, limitsFor(Arith::kFp8)).ok);
}

TEST_CASE("out: all rows a little off are over the whole's limit though each is under its own") {
  const OutputComparison c = compareOne("out", constantOut(10, 16, 1.0f), constantOut(10, 16, 1.0f - 1.0f / 256));
  CHECK(c.rel_error == doctest::Approx(1.0 / 256));
  CHECK(c.worst_row < 6e-3);
  CHECK_FALSE(c.ok);
}

TEST_CASE("out: a row of zeros is compared absolutely") {
  CHECK(compareOne("out", constantOut(2, 4, 0.0f), constantOut(2, 4, 0.0f)).ok);
  CHECK(compareOne("out", constantOut(2, 4, 0.0f), constantOut(2, 4, 1e-3f)).ok);
  CHECK_FALSE(compareOne("out", constantOut(2, 4, 0.0f), constantOut(2, 4, 0.01f)).ok);
}

TEST_CASE("out: NaN and infinities stand in the same places") {
  auto with = [](float value) {
    Tensor t = constantOut(2, 4, 1.0f);
    t.as<uint16_t>()[5] = encodeBF16(value);
    return t;
  };
  CHECK(compareOne("out", with(kNan), with(-kNan)).ok);
  CHECK(compareOne("out", with(kInf), with(kInf)).ok);
  for (auto [a, b] : {std::pair{kNan, 1.0f}, {1.0f, kNan}, {kInf, 1.0f}, {1.0f, kInf}, {kInf, -kInf}, {kNan, kInf}}) {
    const OutputComparison c = compareOne("out", with(a), with(b));
    CHECK(c.mismatches == 1);
    CHECK(std::isfinite(c.rel_error));
    CHECK_FALSE(c.ok);
  }
}

TEST_CASE("lse: the limit is absolute up to 1 and relative beyond; NaN and infinities stand in the same places") {
  CHECK(compareOne("lse", lseOf({0.1f, 100.0f, -kInf}), lseOf({0.1f + 1.9e-5f, 100.0f + 1.9e-3f, -kInf})).ok);
  const OutputComparison small = compareOne("lse", lseOf({0.1f, 100.0f}), lseOf({0.1f + 2.2e-5f, 100.0f}));
  CHECK_FALSE(small.ok);
  CHECK(small.mismatches == 1);
  CHECK(small.worst_index == 0);
  CHECK(small.limit == 2e-5);
  CHECK(small.rel_error == doctest::Approx(2.2e-5).epsilon(0.01));
  const OutputComparison large = compareOne("lse", lseOf({0.1f, 100.0f}), lseOf({0.1f, 100.0f + 2.2e-3f}));
  CHECK_FALSE(large.ok);
  CHECK(large.worst_index == 1);
  CHECK_FALSE(compareOne("lse", lseOf({-kInf}), lseOf({kInf})).ok);
  CHECK_FALSE(compareOne("lse", lseOf({-kInf}), lseOf({-1e30f})).ok);
  CHECK_FALSE(compareOne("lse", lseOf({1.0f}), lseOf({kNan})).ok);
  CHECK(compareOne("lse", lseOf({kNan}), lseOf({kNan})).ok);
}

TEST_CASE("the other outputs: bit for bit, NaN is NaN") {
  const Tensor want = tensorOf<uint8_t>(DType::kU8, {4}, {1, 2, 3, 4});
  CHECK(compareOne("dst", want, tensorOf<uint8_t>(DType::kU8, {4}, {1, 2, 3, 4})).ok);
  const OutputComparison bytes = compareOne("dst", want, tensorOf<uint8_t>(DType::kU8, {4}, {1, 2, 9, 5}));
  CHECK(bytes.mismatches == 2);
  CHECK(bytes.worst_index == 2);
  CHECK(bytes.max_abs == 6);
  CHECK_FALSE(bytes.ok);
  const Tensor kv = tensorOf<uint16_t>(DType::kBF16, {3}, {0x7FC0, 0x3F80, 0x0000});
  CHECK(compareOne("kv", kv, tensorOf<uint16_t>(DType::kBF16, {3}, {0xFFFF, 0x3F80, 0x0000})).ok);
  CHECK_FALSE(compareOne("kv", kv, tensorOf<uint16_t>(DType::kBF16, {3}, {0x7FC0, 0x3F81, 0x0000})).ok);
  CHECK_FALSE(compareOne("kv", kv, tensorOf<uint16_t>(DType::kBF16, {3}, {0x7FC0, 0x3F80, 0x8000})).ok);  // -0 is not 0
  CHECK_FALSE(compareOne("mask", tensorOf<int8_t>(DType::kI8, {2}, {1, 0}), tensorOf<int8_t>(DType::kI8, {2}, {1, 1})).ok);
}

TEST_CASE("tensors without elements are equal") {
  CHECK(compareOne("out", zeros(DType::kBF16, {0, 1, 4, 8}), zeros(DType::kBF16, {0, 1, 4, 8})).ok);
  CHECK(compareOne("lse", zeros(DType::kF32, {0, 4, 1}), zeros(DType::kF32, {0, 4, 1})).ok);
}

TEST_CASE("a missing output and one of another shape or type are errors") {
  const Tensor out = constantOut(2, 4, 1.0f);
  for (const TensorMap& got :
       {TensorMap{}, TensorMap{{"out", constantOut(4, 2, 1.0f)}}, TensorMap{{"out", zeros(DType::kF32, {1, 1, 2, 4})}}}) {
    auto r = compareOutputs({{"out", out}}, got, {});
    REQUIRE_FALSE(r.ok());
    CHECK(r.diag().what.find("out") != std::string::npos);
  }
}
