// Copies that arrive later: cp.async with groups and mbarriers, and bulk copies (PTX ISA 8.8, "Asynchronous Data Copy"). A copy
// reads its source and writes its bytes when it arrives, which the seed decides within what the waits allow.
#pragma once
#include "compiler/emulator/mbarriers.h"

namespace nereid::emulator {

class AsyncCopies {
 public:
  AsyncCopies(BlockContext& context, BlockMemory& memory, Mbarriers& mbarriers);

  // cp.async: `read` bytes of the source, the rest is zero. Group ops and mbarrier arrivals are for the thread's copies.
  void copy(int thread, uint64_t shared, uint64_t global, uint32_t bytes, uint32_t read, const Op& op);
  void commit(int thread);
  void wait(int thread, uint32_t groups_left, const Op& op);
  void waitAll(int thread, const Op& op);
  void arriveOn(int thread, uint64_t mbarrier, bool increment, const Op& op);

  // cp.async.bulk global → shared, completing on an mbarrier; shared → global, completing in bulk groups.
  void bulkLoad(int thread, uint64_t shared, uint64_t global, uint32_t bytes, uint64_t mbarrier, const Op& op);
  void bulkStore(int thread, uint64_t global, uint64_t shared, uint32_t bytes, uint32_t byte_mask, const Op& op);
  void bulkCommit(int thread);
  void bulkWait(int thread, uint32_t groups_left, bool reads_only, const Op& op);

  bool any() const { return !busy_.empty() || !bulk_loads_.empty(); }
  // One copy arrives: the oldest or a random one.
  void arriveOne();
  // All arrive; those that the kernel had to wait for are findings.
  void finish();

 private:
  struct Copy {
    uint64_t to = 0;
    const uint8_t* from = nullptr;
    uint8_t* target = nullptr;
    uint32_t bytes = 0, read = 0;
    uint32_t sequence = 0;
    uint32_t byte_mask = 0xFFFF;
    uint64_t mbarrier = 0, phase = 0;
    int thread = 0, component = 0;
    uint32_t epoch = 0, op = 0;
  };
  struct Arrive {
    uint32_t sequence;
    uint64_t mbarrier;
    uint32_t op;
  };
  // One thread's copies that complete in groups: cp.async, or bulk stores.
  struct Stream {
    int component = -1;
    uint32_t issued = 0;           // sequence of the last copy
    std::vector<uint32_t> groups;  // sequence of each committed group's last copy
    std::vector<Copy> pending;
    std::vector<Arrive> arrivals;  // mbarrier arrivals that wait for copies
    bool stores = false;
    bool listed = false;
  };
  Stream& stream(std::vector<Stream>& streams, int thread);
  void push(Stream& stream, Copy copy);
  void land(Stream& stream, size_t at);
  void landUpTo(Stream& stream, uint32_t sequence);
  void landBulkLoad(size_t at);
  void afterLanding(Stream& stream, int thread);
  static uint32_t sequenceOf(const Stream& stream, uint32_t groups_left);
  void unlistIdle();

  BlockContext& context_;
  BlockMemory& memory_;
  Mbarriers& mbarriers_;
  std::vector<Stream> cp_async_, bulk_stores_;
  std::vector<Stream*> busy_;  // with pending copies
  std::vector<Copy> bulk_loads_;
};

}  // namespace nereid::emulator
