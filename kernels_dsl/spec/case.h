// A case: one call of a kernel with its inputs in host memory. Read from a case file, or put together by a test.
// Shapes: B rows, S queries a row, H heads, K lanes of an index list, D columns of the layout, Dv columns of values, N splits.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "kernels_dsl/spec/problems/problem.h"
#include "kernels_dsl/spec/tensor.h"

namespace nereid::kernels {

// A pool of pages with one row after another from each page's start. The stride may be larger than the page.
struct Pool {
  Tensor bytes;  // [pages, page stride in bytes]
  int64_t pages() const { return bytes.dim(0); }
  int64_t stride() const { return bytes.dim(1); }
};

struct SourceTensors {
  Pool cache;
  Tensor indices;                 // [B, S, K] i32 or i64
  std::optional<Tensor> lengths;  // [B] i32
};

struct DecodeCase {
  SparseDecodeProblem problem;
  Tensor q;  // [B, S, H, Dqk] bf16
  SourceTensors source;
  std::optional<SourceTensors> extra;
  std::optional<Tensor> sink;  // [H] f32
  double softmax_scale = 1;
  int64_t rows() const { return q.dim(0); }
};

struct CombineCase {
  CombineProblem problem;
  Tensor part_out;             // [B, S, H, N, Dv] f32
  Tensor part_lse;             // [B, S, H, N] f32
  std::optional<Tensor> sink;  // [H] f32
  int64_t rows() const { return part_out.dim(0); }
};

struct DequantCase {
  GatherDequantProblem problem;
  Pool cache;
  Tensor indices;  // any shape
};

// Which pages are touched: all, or those of the indices.
struct MarkCase {
  PageMarkProblem problem;
  Tensor indices;                 // any shape; [B, …, K] with lengths
  std::optional<Tensor> lengths;  // [B] i32
  int64_t pages = 0;
};

struct SplitCase {
  PageSplitProblem problem;  // marks is set if there are indices
  Pool src;
  std::optional<MarkCase> mark;
  int64_t dst_page_bytes = 0;  // stride of the destination
  uint8_t fill = 0;            // each byte of the destination before the call
};

struct PackCase {
  PackKvProblem problem;
  Tensor kv;     // [n, D] bf16
  Tensor slots;  // [n] i32 or i64; a slot that is no token is skipped
  Pool cache_before;
};

using Call = std::variant<DecodeCase, CombineCase, DequantCase, SplitCase, MarkCase, PackCase>;

struct Case {
  std::string path;
  std::map<std::string, std::string> metadata;
  Call call;
  TensorMap expected;  // under the names and in the shapes of outputTypes(); empty if the file has none
};

struct TensorType {
  DType dtype;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

Problem problemOf(const Call& call);
// Names, element types and shapes of a call's outputs.
std::map<std::string, TensorType> outputTypes(const Call& call);
// Outputs as they are before the call: zeros, or what pack and split leave in place. A split into pages of the same size has
// nothing to do: its dst is the source itself, which must not be written.
Result<TensorMap> initialOutputs(const Call& call);

}  // namespace nereid::kernels
