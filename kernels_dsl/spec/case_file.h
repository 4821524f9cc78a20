// Case files: safetensors with the inputs of one call, the metadata that say what it is, and, if known, what should come out.
#pragma once
#include <string>

#include "kernels_dsl/spec/case.h"
#include "kernels_dsl/spec/tensor_file.h"

namespace nereid::kernels {

// Kinds of the metadata `kind`: decode, dequant, pack, split, mark, combine.
// q may be [B, H, Dqk] and indices [B, K] where there is one query a row; expected tensors may have those shapes too.
// Missing, unknown, contradicting or misshapen tensors and metadata are input errors that name the file and the tensor or key.
Result<Case> readCase(const std::string& path);
// The same from tensors in memory; `file.path` only names them.
Result<Case> parseCase(const TensorFile& file);

}  // namespace nereid::kernels
