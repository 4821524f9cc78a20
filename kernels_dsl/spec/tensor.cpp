// Element types as a table; memory aligned by hand, because zeroed pages of a large tensor must not be touched.
#include "kernels_dsl/spec/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>
#include <cstdlib>

namespace nereid::kernels {
namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  int bytes;
};

constexpr size_t kAddressSpace = size_t{1} << 47;  // of a process

constexpr DTypeRow kDTypes[] = {
    {DType::kBool, "BOOL", 1},      {DType::kU8, "U8", 1},   {DType::kI8, "I8", 1},   {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kF8E5M2, "F8_E5M2", 1}, {DType::kI16, "I16", 2}, {DType::kU16, "U16", 2}, {DType::kF16, "F16", 2},
    {DType::kBF16, "BF16", 2},      {DType::kI32, "I32", 4}, {DType::kU32, "U32", 4}, {DType::kF32, "F32", 4},
    {DType::kI64, "I64", 8},        {DType::kU64, "U64", 8}, {DType::kF64, "F64", 8},
};

const DTypeRow& row(DType dtype) {
  for (const DTypeRow& r : kDTypes)
    if (r.dtype == dtype) return r;
  return kDTypes[0];
}

}  // namespace

const char* dtypeName(DType dtype) { return row(dtype).name; }
int dtypeBytes(DType dtype) { return row(dtype).bytes; }

Result<DType> findDType(std::string_view name) {
  std::string known;
  for (const DTypeRow& r : kDTypes) {
    if (name == r.name) return r.dtype;
    known += (known.empty() ? "" : ", ") + std::string(r.name);
  }
  return Diag{Code::kInput, fmt::format("unknown dtype '{}'", name), "dtype", "dtypes are " + known};
}

std::string shapeText(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool countElements(const Shape& shape, int element_bytes, int64_t& elements) {
  elements = 1;
  bool none = false;
  for (int64_t d : shape) {
    if (d < 0) return false;
    none |= d == 0;
  }
  if (none) return elements = 0, true;
  for (int64_t d : shape) {
    if (elements > (int64_t{1} << 62) / element_bytes / d) return false;
    elements *= d;
  }
  return true;
}

Result<Tensor> Tensor::allocate(DType dtype, Shape shape) {
  int64_t elements = 0;
  if (!countElements(shape, dtypeBytes(dtype), elements))
    return Diag{Code::kInput, fmt::format("a {} tensor of shape {} is too large", dtypeName(dtype), shapeText(shape)), "memory",
                "use smaller dimensions"};
  const size_t bytes = size_t(elements) * dtypeBytes(dtype);
  void* block = bytes <= kAddressSpace ? std::calloc(bytes + kTensorAlign, 1) : nullptr;
  if (!block)
    return Diag{Code::kEnvironment,
                fmt::format("no memory for a {} tensor of shape {} ({} bytes)", dtypeName(dtype), shapeText(shape), bytes),
                "memory", "free memory or use a smaller case"};
  std::shared_ptr<void> owner(block, std::free);
  auto* aligned =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(block) + kTensorAlign - 1) / kTensorAlign * kTensorAlign);
  return Tensor(dtype, std::move(shape), std::shared_ptr<std::byte>(owner, aligned));
}

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (int64_t d : shape_) n *= d;
  return shape_.empty() && !data_ ? 0 : n;
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor t(dtype_, std::move(shape), data_);
  assert(t.elements() == elements());
  return t;
}

}  // namespace nereid::kernels
