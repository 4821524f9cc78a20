// Memory barriers with phases (PTX ISA 8.8, "mbarrier"): counts, transaction bytes, and the order they give.
#pragma once
#include <unordered_map>

#include "compiler/emulator/block_memory.h"

namespace nereid::emulator {

class Mbarriers {
 public:
  Mbarriers(BlockContext& context, BlockMemory& memory) : context_(context), memory_(memory) {}

  struct State {
    uint32_t count = 0;                         // arrivals of a phase
    int64_t pending = 0;                        // arrivals still to come
    int64_t transaction = 0;                    // bytes still to come; negative: came before they were announced
    uint64_t phase = 0;                         // completed phases
    int component = 0;                          // its epoch counts completed phases
    ClockSnapshot arriving, completed, before;  // of the phase under way, the last one, the one before
    uint32_t init_op = 0, last_op = 0;
    int init_thread = 0;
    uint32_t init_epoch = 0;
    bool init_fenced = false;  // fence.mbarrier_init by the thread that made it
  };

  void init(int thread, uint64_t address, uint32_t count, const Op& op);
  void invalidate(int thread, uint64_t address, const Op& op);
  void fenceInit(int thread);  // fence.mbarrier_init

  // nullptr after a finding, which ends the block: no such mbarrier.
  State* find(int thread, uint64_t address, const Op& op);
  bool live(uint64_t address) const { return states_.count(address) != 0; }

  enum class Drop { kNo, kYes };
  // Returns the state token. `release`: memory effects of the thread come before the phase's end.
  uint64_t arrive(int thread, uint64_t address, uint32_t count, bool release, const Op& op, Drop drop = Drop::kNo);
  uint64_t arriveNoComplete(int thread, uint64_t address, uint32_t count, const Op& op);
  void addPending(int thread, uint64_t address, const Op& op);  // cp.async.mbarrier.arrive without noinc
  // On behalf of `thread`'s copies, which are visible up to `epoch` of `component`.
  void arriveForCopies(int thread, uint64_t address, int component, uint32_t epoch, const Op& op);
  void expect(int thread, uint64_t address, uint32_t bytes, const Op& op);
  void complete(int thread, uint64_t address, uint32_t bytes, const Op& op);

  // Whether the phase of this parity is over; `acquire` takes over its order.
  bool testParity(int thread, uint64_t address, uint32_t parity, bool acquire, const Op& op);
  bool testToken(int thread, uint64_t address, uint64_t token, bool acquire, const Op& op);
  static uint32_t pendingOf(uint64_t token) { return static_cast<uint32_t>(token & 0xFFFFF); }

  std::string describe(uint64_t address) const;
  // Phases that are left half done when the block ends.
  void checkAtEnd();

 private:
  uint64_t token(const State& state) const { return state.phase << 20 | static_cast<uint64_t>(state.pending); }
  void settle(uint64_t address, State& state);
  uint64_t knownPhases(int thread, const State& state) const;

  BlockContext& context_;
  BlockMemory& memory_;
  std::unordered_map<uint64_t, State> states_;
};

}  // namespace nereid::emulator
