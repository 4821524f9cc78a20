#include "compiler/emulator/global_memory.h"

#include <fmt/format.h>

namespace nereid::emulator {

GlobalMemory::GlobalMemory(std::vector<EmulatorBuffer> buffers, std::vector<uint8_t> data) : data_(std::move(data)) {
  for (size_t i = 0; i < buffers.size(); i++) {
    Range range;
    range.buffer = buffers[i];
    // The window's low bits keep the host's, so that alignment is the caller's; a red zone lies before the first byte.
    range.base = ((static_cast<uint64_t>(i) + 1) << kWindowBits) + 4096 + (reinterpret_cast<uint64_t>(buffers[i].data) & 4095);
    range.tracked = buffers[i].writable || !buffers[i].initialised;
    if (range.tracked) range.shadow = Shadow(buffers[i].bytes, buffers[i].initialised);
    ranges_.push_back(std::move(range));
  }
  data_range_.buffer = {data_.data(), data_.size(), false, "module data", true};
  data_range_.base = kDataWindow << kWindowBits;
}

uint64_t GlobalMemory::translate(const void* pointer) const {
  const uint64_t at = reinterpret_cast<uint64_t>(pointer);
  // One past the end belongs to a buffer too, but only where no other begins there.
  const Range* past = nullptr;
  for (const Range& range : ranges_) {
    const uint64_t first = reinterpret_cast<uint64_t>(range.buffer.data);
    if (at >= first && at < first + range.buffer.bytes) return range.base + (at - first);
    if (at == first + range.buffer.bytes && (at != 0)) past = &range;
  }
  return past ? past->base + past->buffer.bytes : at & ((uint64_t{1} << kWindowBits) - 1);
}

GlobalMemory::Range* GlobalMemory::find(uint64_t address) {
  const uint64_t window = address >> kWindowBits;
  if (window == kDataWindow) return &data_range_;
  return window >= 1 && window <= ranges_.size() ? &ranges_[window - 1] : nullptr;
}

std::string GlobalMemory::describe(uint64_t address) const {
  const uint64_t window = address >> kWindowBits;
  if (window == 0) return fmt::format("address {:#x}, which is in no buffer", address);
  if (window > ranges_.size()) return fmt::format("address {:#x}, which is no global address", address);
  const Range& range = ranges_[window - 1];
  const std::string name = fmt::format("'{}' ({} bytes)", range.buffer.name, range.buffer.bytes);
  if (address < range.base) return fmt::format("{} bytes before {}", range.base - address, name);
  const uint64_t at = address - range.base;
  if (at >= range.buffer.bytes) return fmt::format("{} bytes past the end of {}", at - range.buffer.bytes, name);
  return fmt::format("byte {} of {}", at, name);
}

}  // namespace nereid::emulator
