// The argument block of one launch: checked against its contract and packed as the kernel's parameters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.h"
#include "runtime/spec/abi.h"

namespace nereid {

inline constexpr size_t kMaxArgumentBytes = 1024;  // a launch packs on the stack; CUDA's own limit is 4 KB

// One slot for each argument; pointers at addresses and integers that are multiples of what the code was compiled for. The error
// names the argument. Allocates nothing when everything is right.
Status checkArguments(const ArgList& args, std::span<const ArgSlot> slots);

// Writes the values one after another, each at a multiple of its own size (PTX's layout of parameters). Returns the bytes used.
Result<size_t> packArguments(const ArgList& args, std::span<const ArgSlot> slots, std::span<std::byte> buffer);

}  // namespace nereid
