// Guard bytes around what kernels write: a store outside a tensor shows even where memory would allow it.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace nereid::api {

inline constexpr size_t kGuardBytes = 4096;  // on each side; a multiple of every alignment that kernels rely on
inline constexpr uint8_t kGuardValue = 0xA5;

// `image` is guard, tensor, guard. The error says how far outside the first changed byte is.
inline Status checkGuards(const std::string& name, const uint8_t* image, size_t tensor_bytes) {
  auto touched = [&](size_t begin, size_t end) -> int64_t {
    for (size_t i = begin; i < end; i++)
      if (image[i] != kGuardValue) return static_cast<int64_t>(i);
    return -1;
  };
  const int64_t before = touched(0, kGuardBytes), after = touched(kGuardBytes + tensor_bytes, 2 * kGuardBytes + tensor_bytes);
  if (before < 0 && after < 0) return {};
  const std::string place = before >= 0 ? std::to_string(kGuardBytes - before) + " bytes before its start"
                                        : std::to_string(after - kGuardBytes - tensor_bytes) + " bytes past its end";
  return Diag{Code::kCheckFailed, "a kernel wrote outside " + name + ", " + place, name, "report this case"};
}

}  // namespace nereid::api
