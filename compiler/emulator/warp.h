// One warp: registers of 32 lanes and the places where they are. Lanes that are at the same op run together (a fragment); at a
// branch they part, and they meet again where their places coincide. The fragment at the lowest op goes first, which lets lanes
// meet at the end of loops and conditionals; a collective op waits until the lanes that it names are there (independent thread
// scheduling, PTX ISA 8.8).
#pragma once
#include <bit>
#include <memory>

#include "compiler/emulator/program.h"

namespace nereid::emulator {

class Block;

enum class Wait : uint8_t {
  kNone,
  kLanes,      // for other lanes of the warp at the same op
  kBarrier,    // arrived at the named barrier `on`
  kMbarrier,   // for a change of the mbarrier at `on`
  kRegisters,  // for registers of other warps (setmaxnreg)
};

struct Fragment {
  uint32_t pc = 0, lanes = 0;
  Wait wait = Wait::kNone;
  uint64_t on = 0;
  bool expired = false;  // a try_wait whose time is over
};

class Warp {
 public:
  Warp(Block& block, const Program& program, int index, uint32_t lanes);
  Warp(Warp&&) = default;

  // Runs until `budget` ops are done, nothing can run, or the block stops.
  void run(int64_t& budget);
  bool runnable() const;
  bool exited() const { return alive == 0; }

  Block& block;
  const Program& program;
  const int index;
  const uint32_t launched;  // lanes that exist
  uint32_t alive;           // lanes that have not exited
  uint32_t active = 0;      // lanes that run
  uint32_t pc = 0;
  uint64_t polls = 0, polls_at = 0;  // failed polls since the block's progress `polls_at`
  int register_count = 0;            // a thread's, where setmaxnreg counts them
  std::vector<int> register_history;
  uint32_t register_op = 0;  // the last setmaxnreg
  std::vector<Fragment> fragments;

  int thread(int lane) const { return index * kLanes + lane; }
  int firstThread() const { return thread(std::countr_zero(active)); }
  uint32_t* narrow(Column c) { return reinterpret_cast<uint32_t*>(registers_.get() + c); }
  uint64_t* wide(Column c) { return reinterpret_cast<uint64_t*>(registers_.get() + c); }
  template <typename T>
  T* column(Column c) {
    return reinterpret_cast<T*>(registers_.get() + c);
  }
  Column result(const Op& op, int i) const { return program.lists[op.list + static_cast<uint32_t>(i)]; }
  Column operand(const Op& op, int i) const { return program.lists[op.list + op.results + static_cast<uint32_t>(i)]; }

  // Ends the warp's turn after the op.
  void yield() { yielded_ = true; }

  // For handlers. Lanes in `taken` go to op `to`, the others to op `otherwise`.
  Flow branch(uint32_t taken, uint32_t to, uint32_t otherwise);
  Flow exitLanes();
  // Takes in lanes that wait at this op. True when all of `needed` are here; else the caller returns parkForLanes().
  bool converge(uint32_t needed);
  Flow parkForLanes(const Op& op, uint32_t needed);
  Flow park(Wait wait, uint64_t on);
  // Whether the wait of the running fragment has just expired; resets it.
  bool takeExpired();

 private:
  struct Free {
    void operator()(uint8_t* p) const;
  };
  bool choose(bool prefer_other);
  void leave(size_t at);

  std::unique_ptr<uint8_t[], Free> registers_;
  int current_ = -1;  // fragment that runs
  bool preempted_ = false, yielded_ = false;
};

// Calls f(lane) for each running lane.
template <typename F>
inline void forLanes(const Warp& warp, F f) {
  if (warp.active == kAllLanes) {
    for (int lane = 0; lane < kLanes; lane++) f(lane);
    return;
  }
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) f(std::countr_zero(rest));
}

}  // namespace nereid::emulator
