// Errors are taken over the places where both values are finite; other places must agree in kind.
#include "kernels_dsl/spec/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels_dsl/spec/formats.h"

namespace nereid::kernels {
namespace {

// NaN with NaN, an infinity with the same one, finite with finite.
bool sameKind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

void compareOut(const Tensor& expected, const Tensor& got, const Limits& limits, OutputComparison& c) {
  const auto *a = expected.as<uint16_t>(), *b = got.as<uint16_t>();
  const int64_t columns = expected.shape().back(), rows = columns ? expected.elements() / columns : 0;
  double all_difference = 0, all_norm = 0;
  for (int64_t r = 0; r < rows; ++r) {
    double difference = 0, norm = 0;
    for (int64_t k = r * columns; k < (r + 1) * columns; ++k) {
      const double x = decodeBF16(a[k]), y = decodeBF16(b[k]);
      if (!sameKind(x, y)) {
        ++c.mismatches;
        continue;
      }
      if (!std::isfinite(x)) continue;
      difference += (x - y) * (x - y);
      norm += x * x;
      c.max_abs = std::max(c.max_abs, std::fabs(x - y));
    }
    const double error = std::sqrt(difference) / (norm > 0 ? std::sqrt(norm) : 1);
    if (error > c.worst_row) {
      c.worst_row = error;
      c.worst_index = r;
    }
    all_difference += difference;
    all_norm += norm;
  }
  c.rel_error = std::sqrt(all_difference) / (all_norm > 0 ? std::sqrt(all_norm) : 1);
  c.limit = limits.out;
  c.ok = c.mismatches == 0 && c.rel_error <= limits.out && c.worst_row <= limits.out_row;
}

void compareLse(const Tensor& expected, const Tensor& got, const Limits& limits, OutputComparison& c) {
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double x = expected.as<float>()[i], y = got.as<float>()[i];
    if (!sameKind(x, y)) {
      ++c.mismatches;
      continue;
    }
    if (!std::isfinite(x)) continue;
    const double error = std::fabs(x - y) / std::max(1.0, std::fabs(x));
    c.mismatches += error > limits.lse;
    c.max_abs = std::max(c.max_abs, std::fabs(x - y));
    if (error > c.rel_error) {
      c.rel_error = error;
      c.worst_index = i;
    }
  }
  c.worst_row = c.rel_error;
  c.limit = limits.lse;
  c.ok = c.mismatches == 0;
}

// `count` elements of type T, equal in their bits; `value` gives an element's number.
template <typename T, typename Value>
void compareBits(const Tensor& expected, const Tensor& got, int64_t count, Value value, OutputComparison& c) {
  const T *a = expected.as<T>(), *b = got.as<T>();
  for (int64_t i = 0; i < count; ++i) {
    if (a[i] == b[i]) continue;
    const double x = value(a[i]), y = value(b[i]);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (c.mismatches++ == 0) c.worst_index = i;
    if (std::isfinite(x) && std::isfinite(y)) c.max_abs = std::max(c.max_abs, std::fabs(x - y));
  }
  c.ok = c.mismatches == 0;
}

}  // namespace

Limits limitsFor(Arith arith) { return arith == Arith::kFp8 ? Limits{.out = 3e-2, .out_row = 6e-2, .lse = 5e-4} : Limits{}; }

Limits limitsFor(const Call& call) {
  const auto* decode = std::get_if<DecodeCase>(&call);
  return decode ? limitsFor(decode->problem.arith) : Limits{};
}

Result<std::vector<OutputComparison>> compareOutputs(const TensorMap& expected, const TensorMap& got, const Limits& limits) {
  std::vector<OutputComparison> all;
  for (const auto& [name, want] : expected) {
    const auto found = got.find(name);
    if (found == got.end())
      return Diag{Code::kInput, fmt::format("output {} was not computed", name), "comparison",
                  "compute every tensor that is expected"};
    const Tensor& have = found->second;
    if (have.dtype() != want.dtype() || have.shape() != want.shape())
      return Diag{Code::kInput,
                  fmt::format("output {} is {} {}, expected {} {}", name, dtypeName(have.dtype()), shapeText(have.shape()),
                              dtypeName(want.dtype()), shapeText(want.shape())),
                  "comparison", "compare tensors of one case"};
    OutputComparison c{.name = name};
    if (name == "out" && want.dtype() == DType::kBF16)
      compareOut(want, have, limits, c);
    else if (name == "lse" && want.dtype() == DType::kF32)
      compareLse(want, have, limits, c);
    else if (want.dtype() == DType::kBF16)
      compareBits<uint16_t>(want, have, want.elements(), [](uint16_t bits) { return double{decodeBF16(bits)}; }, c);
    else
      compareBits<uint8_t>(want, have, want.bytes(), [](uint8_t byte) { return double(byte); }, c);
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace nereid::kernels
