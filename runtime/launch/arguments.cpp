// Checks and packing.
#include "runtime/launch/arguments.h"

#include <fmt/format.h>

#include <cstring>

namespace nereid {
namespace {

size_t argBytes(ArgType type) { return type == ArgType::kPointer || type == ArgType::kI64 ? 8 : 4; }

Diag misaligned(const Arg& arg, const ArgSlot& slot, int64_t value) {
  if (arg.type == ArgType::kPointer)
    return Diag{Code::kUsage, fmt::format("{} is at {}, which is no multiple of {} bytes", arg.name, slot.pointer, arg.align),
                "argument " + arg.name,
                fmt::format("align the buffer to {} bytes, or take a kernel that was compiled for narrow copies", arg.align)};
  return Diag{Code::kUsage, fmt::format("{} is {}, which is no multiple of {}", arg.name, value, arg.align),
              "argument " + arg.name,
              fmt::format("pass a multiple of {}, or take a kernel that was compiled for narrow copies", arg.align)};
}

}  // namespace

Status checkArguments(const ArgList& args, std::span<const ArgSlot> slots) {
  if (slots.size() != args.size())
    return Diag{Code::kInternal, fmt::format("{} arguments for a kernel of {}", slots.size(), args.size()), "launch",
                "pass one slot for each argument"};
  for (size_t i = 0; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (arg.align <= 1 || arg.type == ArgType::kF32) continue;
    const int64_t value = arg.type == ArgType::kI32 ? int64_t{slots[i].i32} : slots[i].i64;
    const bool multiple = arg.type == ArgType::kPointer ? slots[i].bits % uint64_t(arg.align) == 0 : value % arg.align == 0;
    if (!multiple) return misaligned(arg, slots[i], value);
  }
  return {};
}

Result<size_t> packArguments(const ArgList& args, std::span<const ArgSlot> slots, std::span<std::byte> buffer) {
  NEREID_CHECK_OK(checkArguments(args, slots));
  size_t end = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t bytes = argBytes(args[i].type);
    const size_t at = (end + bytes - 1) / bytes * bytes;
    if (at + bytes > buffer.size())
      return Diag{Code::kUnsupported,
                  fmt::format("the arguments from {} on do not fit into {} bytes", args[i].name, buffer.size()), "launch",
                  "give the kernel fewer arguments"};
    std::memset(buffer.data() + end, 0, at - end);
    std::memcpy(buffer.data() + at, &slots[i], bytes);  // little endian: a value stands in the low bytes of its slot
    end = at + bytes;
  }
  return end;
}

}  // namespace nereid
