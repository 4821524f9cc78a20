// Every access of a block goes through here: address spaces, bounds, alignment, and the checks of order.
#pragma once
#include "compiler/emulator/block_context.h"
#include "compiler/emulator/global_memory.h"

namespace nereid::emulator {

// NVPTX address spaces.
enum Space : uint32_t { kGeneric = 0, kGlobal = 1, kShared = 3, kConstant = 4, kLocal = 5, kCluster = 7 };

enum class Access { kRead, kWrite, kAtomic };

// Who accesses: a thread by itself, or a copy on its behalf.
struct Actor {
  int thread = 0;
  int component = 0;  // the thread, or the component that waiting raises
  uint32_t epoch = 0;
  bool async_proxy = false;
  bool pending = false;  // the bytes arrive later
  bool atomic = false;
  const uint8_t* flag = nullptr;  // what a store of one byte to global memory writes
  bool same_flag = false;         // it is there already: many threads may set a flag, it does not matter which is last
};

class BlockMemory {
 public:
  BlockMemory(BlockContext& context, GlobalMemory& global);

  // Checks one access by a thread; the host's address of the bytes, or nullptr after a finding that makes it impossible.
  uint8_t* access(int thread, Space space, uint64_t address, uint32_t bytes, uint32_t align, Access kind, const Op& op);
  // The same on behalf of a copy.
  uint8_t* access(const Actor& actor, Space space, uint64_t address, uint32_t bytes, uint32_t align, Access kind, const Op& op);

  // A copy of `component` at `epoch` has written its bytes.
  void arrived(Space space, uint64_t address, uint32_t bytes, int component, uint32_t epoch);

  // Marks an mbarrier's 8 bytes (live) or frees them. `thread` writes them.
  void markBarrier(int thread, uint64_t address, bool live, const Op& op);
  // Reports unless the write of the bytes is ordered before the thread. Offsets of shared addresses.
  void checkBarrierVisible(int thread, uint64_t address, const Op& op);

  GlobalMemory& global() { return global_; }
  uint64_t sharedBytes() const { return shared_.size(); }
  std::string describe(Space space, uint64_t address) const;
  Actor threadActor(int thread) const { return {thread, thread, context_.clocks.epoch(thread)}; }

 private:
  uint8_t* resolve(const Actor& actor, Space& space, uint64_t& address, uint32_t bytes, Access kind, const Op& op,
                   GlobalMemory::Range*& range);
  void note(const Actor& actor, Cell* cells, uint64_t count, uint64_t unit, Access kind, const Op& op, Space space,
            uint64_t address, bool check_written);
  void checkAfterWrite(const Actor& actor, const Cell& cell, Access kind, const Op& op, Space space, uint64_t address);
  void checkAfterReads(const Actor& actor, const Cell& cell, const Op& op, Space space, uint64_t address);
  bool orderedAfter(int thread, int64_t block, int component, uint32_t epoch) const;

  BlockContext& context_;
  GlobalMemory& global_;
  std::vector<uint8_t> shared_;
  Shadow shared_shadow_;
  std::vector<uint8_t> local_;
};

}  // namespace nereid::emulator
