// Safetensors files: an 8-byte length, a JSON header, the bytes of the tensors without gaps. A file is material to judge: every
// length, offset, shape and dtype is checked before a byte of data is used, and an error names file, tensor and field.
#pragma once
#include <map>
#include <string>

#include "kernels_dsl/spec/tensor.h"

namespace nereid::kernels {

struct TensorFile {
  std::string path;
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's reference reader

// The data is mapped, not read; a tensor whose first byte is not aligned is copied. Missing or broken files are input errors.
Result<TensorFile> readTensorFile(const std::string& path);
// Written beside and renamed, so that a failure leaves no half of a file. Failures are environment errors that name the path.
Status writeTensorFile(const std::string& path, const TensorMap& tensors, const std::map<std::string, std::string>& metadata);

}  // namespace nereid::kernels
