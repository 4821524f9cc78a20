// The argument block of a kernel: an ordered list that the program, the compiler and the launcher share.
// On the GPU each entry is one kernel parameter; on the CPU the kernel gets an array of 8-byte slots and the block's index.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

enum class ArgType { kPointer, kI32, kI64, kF32 };

struct Arg {
  std::string name;
  ArgType type = ArgType::kPointer;
  int align = 1;  // pointers: bytes that the address is a multiple of; integers: a divisor of the value
};
using ArgList = std::vector<Arg>;

// One argument's value, in the low bytes of a slot.
union ArgSlot {
  void* pointer;
  int32_t i32;
  int64_t i64;
  float f32;
  uint64_t bits;
};

}  // namespace nereid
