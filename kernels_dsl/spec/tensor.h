// A tensor in host memory: element type, shape, bytes. Copies share the bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace nereid::kernels {

enum class DType { kBool, kU8, kI8, kF8E4M3, kF8E5M2, kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kI64, kU64, kF64 };
const char* dtypeName(DType dtype);  // as in safetensors: "U8", "BF16", …
int dtypeBytes(DType dtype);
// Unknown names are an input error that lists the known ones.
Result<DType> findDType(std::string_view name);

using Shape = std::vector<int64_t>;
std::string shapeText(const Shape& shape);  // "[2, 64]"

inline constexpr size_t kTensorAlign = 64;  // of the first byte of every tensor

class Tensor {
 public:
  Tensor() = default;
  // Zeroed bytes of its own. Too much memory is an environment error, a shape that overflows an input error.
  static Result<Tensor> allocate(DType dtype, Shape shape);
  // Bytes that `owner` keeps alive; `data` is aligned to kTensorAlign and holds as many bytes as the shape says.
  Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> data)
      : dtype_(dtype), shape_(std::move(shape)), data_(std::move(data)) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t dim(size_t i) const { return shape_[i]; }
  int64_t rank() const { return int64_t(shape_.size()); }
  int64_t elements() const;
  int64_t bytes() const { return elements() * dtypeBytes(dtype_); }
  bool empty() const { return elements() == 0; }

  // Never null, also without elements. Bytes read from a file are read-only: write only into tensors that were allocated.
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  // The same bytes under another shape of as many elements.
  Tensor reshaped(Shape shape) const;

 private:
  DType dtype_ = DType::kU8;
  Shape shape_;
  std::shared_ptr<std::byte> data_;
};

using TensorMap = std::map<std::string, Tensor>;

// Elements of a shape; nothing if a dimension is negative or the bytes overflow 2^62.
bool countElements(const Shape& shape, int element_bytes, int64_t& elements);

}  // namespace nereid::kernels
