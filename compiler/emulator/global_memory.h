// Memory that blocks share: the caller's buffers and the program's own variables, with what is known of their bytes.
#pragma once
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/emulator/emulate.h"
#include "compiler/emulator/program.h"
#include "compiler/emulator/shadow.h"

namespace nereid::emulator {

class GlobalMemory {
 public:
  GlobalMemory(std::vector<EmulatorBuffer> buffers, std::vector<uint8_t> data);

  // The kernel's address of a caller's pointer; null and pointers outside the buffers stay what they are and fault when used.
  uint64_t translate(const void* pointer) const;

  struct Range {
    EmulatorBuffer buffer;
    uint64_t base = 0;  // kernel address of its first byte
    Shadow shadow;
    bool tracked = false;  // the kernel may write it, or it starts unwritten
  };
  // The buffer whose window holds the address; nullptr: none.
  Range* find(uint64_t address);
  std::string describe(uint64_t address) const;  // "12 bytes past the end of 'out' (4096 bytes)"

  // Held around shadow and atomic accesses: blocks may run on several threads of the host.
  std::mutex mutex;
  std::unordered_map<uint64_t, ForeignClockRef> released;  // by atomics, by address

 private:
  std::vector<Range> ranges_;  // by window - 1
  std::vector<uint8_t> data_;
  Range data_range_;
};

}  // namespace nereid::emulator
