// One thread block: its warps, who runs next, and the barriers they meet at.
#pragma once
#include <array>

#include "compiler/emulator/async_copies.h"
#include "compiler/emulator/warp.h"

namespace nereid::emulator {

// How barrier.red makes its result of the lanes that voted.
enum Votes : uint64_t { kVotesCount, kVotesAnd, kVotesOr };
uint32_t reduceVotes(uint64_t how, uint32_t votes, uint32_t threads);

class Block {
 public:
  Block(const Program& program, const EmulatorLaunch& launch, const EmulatorOptions& options, GlobalMemory& global,
        const std::vector<uint64_t>& arguments, int64_t index);
  // Runs to the end or to a finding that ends the block.
  void run();

  BlockContext& context() { return context_; }
  BlockMemory& memory() { return memory_; }
  Mbarriers& mbarriers() { return mbarriers_; }
  AsyncCopies& copies() { return copies_; }
  Clocks& clocks() { return context_.clocks; }
  bool stopped() const { return context_.stopped; }
  void progressed() { context_.progress++; }
  void polled(Warp& warp);  // a wait that found nothing
  uint64_t warpOps() const { return warp_ops_; }

  // Named barriers (PTX ISA 8.8, "barrier"). `threads` 0: all of the block. The lanes arrive; if that was the last arrival, all
  // who wait go on and true returns, else they wait. `vote`: the lanes whose predicate holds, for barrier.red.
  struct BarrierResult {
    bool complete = false;
    uint32_t votes = 0;
  };
  BarrierResult arriveAtBarrier(Warp& warp, const Op& op, uint32_t id, uint32_t threads, bool aligned, bool waits,
                                uint32_t vote = 0);

  // setmaxnreg: false while the registers are not there.
  bool setRegisters(Warp& warp, const Op& op, int count, bool increase);

  // Order of the lanes of a warp among each other (bar.warp.sync).
  void syncLanes(Warp& warp, uint32_t lanes);
  // Release and acquire of atomics and fences on global memory, device-wide.
  void releaseAt(int thread, uint64_t address);
  void acquireAt(int thread, uint64_t address);
  void fence(int thread);  // releases at the thread's later relaxed atomics, acquires what its earlier ones saw
  void relaxedAtomic(int thread, uint64_t address);

 private:
  struct Barrier {
    uint32_t arrived = 0, expected = 0, votes = 0;
    uint32_t op = 0;
    int thread = 0;
    ClockSnapshot clock;
  };
  uint64_t fewestPolls() const;
  bool unstick(bool nothing_runs);
  void reportDeadlock();
  std::vector<FindingPlace> places();
  void checkRegisterGroups();
  ForeignClockRef ownForeign(int thread);

  BlockContext context_;
  BlockMemory memory_;
  Mbarriers mbarriers_;
  AsyncCopies copies_;
  std::vector<Warp> warps_;
  std::array<Barrier, 16> barriers_;
  int64_t free_registers_ = 0;
  uint64_t warp_ops_ = 0;
  uint64_t last_progress_ = 0;
  int expiries_ = 0;
  std::vector<ForeignClockRef> fenced_, observed_;  // by thread, for fence with relaxed atomics
};

}  // namespace nereid::emulator
