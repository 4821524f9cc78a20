// Small cases in memory for tests: a generator of numbers, tensors from vectors, packed pools, and tensor files that tests then
// spoil.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels_dsl/spec/case.h"
#include "kernels_dsl/spec/formats.h"
#include "kernels_dsl/spec/tensor_file.h"

namespace nereid::kernels {

inline Tensor zeros(DType dtype, Shape shape) {
  auto t = Tensor::allocate(dtype, std::move(shape));
  REQUIRE(t.ok());
  return *t;
}

template <typename T>
Tensor tensorOf(DType dtype, Shape shape, const std::vector<T>& values) {
  Tensor t = zeros(dtype, std::move(shape));
  REQUIRE(t.bytes() == int64_t(values.size() * sizeof(T)));
  if (!values.empty()) std::memcpy(t.data(), values.data(), values.size() * sizeof(T));
  return t;
}

inline Tensor randomBF16(std::mt19937& g, Shape shape, float spread = 1.0f) {
  std::normal_distribution<float> normal(0, spread);
  Tensor t = zeros(DType::kBF16, std::move(shape));
  for (int64_t i = 0; i < t.elements(); ++i) t.as<uint16_t>()[i] = encodeBF16(normal(g));
  return t;
}

inline Tensor randomBytes(std::mt19937& g, Shape shape) {
  Tensor t = zeros(DType::kU8, std::move(shape));
  for (int64_t i = 0; i < t.elements(); ++i) t.as<uint8_t>()[i] = uint8_t(g());
  return t;
}

inline Tensor randomIndices(std::mt19937& g, Shape shape, int64_t tokens) {
  Tensor t = zeros(DType::kI32, std::move(shape));
  for (int64_t i = 0; i < t.elements(); ++i) t.as<int32_t>()[i] = int32_t(g() % uint64_t(tokens));
  return t;
}

// A decode case of MODEL1 as a file in memory: 2 rows, 4 heads, top-k 8, 4 pages of 4 tokens with small scales, lengths and a
// sink.
inline TensorFile decodeFile(bool extra = false) {
  std::mt19937 g(7);
  TensorFile f{.path = "memory.safetensors"};
  f.metadata = {{"kind", "decode"}, {"layout", "MODEL1"}, {"page_size", "4"}, {"head_dim_v", "512"}};
  f.tensors["q"] = randomBF16(g, {2, 1, 4, 512});
  auto pool = [&] {
    Tensor t = randomBytes(g, {4, 5 * 576});
    for (int64_t i = 0; i < t.elements(); ++i) {
      uint8_t& byte = t.as<uint8_t>()[i];
      const int64_t at = i % (5 * 576);
      if (at >= 4 * 576)
        byte = uint8_t(118 + byte % 4);  // scales near 2^-8
      else if (at % 576 >= 448 && at % 2)
        byte &= 0xBF;  // bf16 below 2
      else if ((byte & 0x7F) == 0x7F)
        byte = 0;
    }
    return t;
  };
  f.tensors["k_cache"] = pool();
  f.tensors["indices"] = randomIndices(g, {2, 1, 8}, 16);
  f.tensors["topk_length"] = tensorOf<int32_t>(DType::kI32, {2}, {8, 3});
  f.tensors["attn_sink"] = tensorOf<float>(DType::kF32, {4}, {0.5f, -1.0f, 3.0f, 0.0f});
  if (extra) {
    f.metadata["extra_page_size"] = "4";
    f.tensors["extra_k_cache"] = pool();
    f.tensors["extra_indices"] = randomIndices(g, {2, 1, 5}, 16);
    f.tensors["extra_topk_length"] = tensorOf<int32_t>(DType::kI32, {2}, {0, 5});
  }
  return f;
}

}  // namespace nereid::kernels
