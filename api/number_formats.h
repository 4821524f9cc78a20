// Values of host arrays in the formats that kernels read and write.
#pragma once
#include "kernels_dsl/spec/formats.h"

namespace nereid::api {
using kernels::decodeBF16, kernels::decodeE4M3, kernels::decodeF16, kernels::decodeUE8M0;
using kernels::encodeBF16, kernels::encodeE4M3, kernels::encodeF16, kernels::encodeUE8M0;
}  // namespace nereid::api
