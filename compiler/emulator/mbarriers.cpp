#include "compiler/emulator/mbarriers.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::emulator {
namespace {
constexpr int64_t kMaxCount = (1 << 20) - 1;  // of arrivals and of transaction bytes
}

std::string Mbarriers::describe(uint64_t address) const {
  auto at = states_.find(address);
  std::string name = fmt::format("mbarrier at shared byte {}", address - kSharedBase);
  if (at == states_.end()) return name;
  return fmt::format("{} (phase {}, {} of {} arrivals and {} bytes to come)", name, at->second.phase, at->second.pending,
                     at->second.count, at->second.transaction);
}

void Mbarriers::init(int thread, uint64_t address, uint32_t count, const Op& op) {
  if (!memory_.access(thread, kShared, address, 8, 8, Access::kWrite, op)) return;
  if (count == 0 || count > kMaxCount) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("an mbarrier counts 1 to {} arrivals, not {}", kMaxCount, count));
    return;
  }
  memory_.markBarrier(thread, address, true, op);
  State state;
  state.count = count;
  state.pending = count;
  state.component = context_.clocks.addComponent();
  state.init_op = state.last_op = op.index;
  state.init_thread = thread;
  state.init_epoch = context_.clocks.epoch(thread);
  states_[address] = std::move(state);
}

void Mbarriers::invalidate(int thread, uint64_t address, const Op& op) {
  if (!find(thread, address, op)) return;
  memory_.markBarrier(thread, address, false, op);
  states_.erase(address);
}

void Mbarriers::fenceInit(int thread) {
  for (auto& [address, state] : states_) {
    if (state.init_thread == thread) state.init_fenced = true;
  }
}

Mbarriers::State* Mbarriers::find(int thread, uint64_t address, const Op& op) {
  auto at = states_.find(address);
  if (at != states_.end()) {
    memory_.checkBarrierVisible(thread, address, op);
    return &at->second;
  }
  context_.reportFatal(FindingKind::kMbarrier, thread, op.index,
                       fmt::format("{} is no mbarrier: it was not initialised", memory_.describe(kShared, address)));
  return nullptr;
}

// Ends the phase when nothing is left to come.
void Mbarriers::settle(uint64_t address, State& state) {
  context_.progress++;
  if (state.pending == 0 && state.transaction == 0) {
    state.phase++;
    state.pending = state.count;
    state.before = std::move(state.completed);
    state.completed = std::move(state.arriving);
    state.arriving.clear();
    state.completed.raise(state.component, static_cast<uint32_t>(state.phase));
  }
  context_.wakeMbarrier(address);
}

uint64_t Mbarriers::arrive(int thread, uint64_t address, uint32_t count, bool release, const Op& op, Drop drop) {
  State* state = find(thread, address, op);
  if (!state) return 0;
  const uint64_t before = token(*state);
  if (count == 0 || count > state->pending) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("{} arrivals at the {}: beyond its count", count, describe(address)),
                    {context_.place(state->init_thread, state->init_op)});
    return before;
  }
  if (release) context_.clocks.release(thread, state->arriving);
  state->pending -= count;
  if (drop == Drop::kYes) state->count -= count;
  state->last_op = op.index;
  settle(address, *state);
  return before;
}

uint64_t Mbarriers::arriveNoComplete(int thread, uint64_t address, uint32_t count, const Op& op) {
  State* state = find(thread, address, op);
  if (!state) return 0;
  if (count >= state->pending) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("arrive.noComplete with {} arrivals would end the phase of the {}", count, describe(address)));
    return token(*state);
  }
  return arrive(thread, address, count, true, op);
}

void Mbarriers::addPending(int thread, uint64_t address, const Op& op) {
  if (State* state = find(thread, address, op)) state->pending++;
}

void Mbarriers::arriveForCopies(int thread, uint64_t address, int component, uint32_t epoch, const Op& op) {
  auto at = states_.find(address);
  if (at == states_.end()) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("copies arrive at {}, which is no mbarrier any more", memory_.describe(kShared, address)));
    return;
  }
  State& state = at->second;
  if (state.pending < 1) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("copies arrive at the {}: beyond its count", describe(address)),
                    {context_.place(state.init_thread, state.init_op)});
    return;
  }
  state.arriving.raise(component, epoch);
  state.pending--;
  state.last_op = op.index;
  settle(address, state);
}

void Mbarriers::expect(int thread, uint64_t address, uint32_t bytes, const Op& op) {
  State* state = find(thread, address, op);
  if (!state) return;
  state->transaction += bytes;
  if (state->transaction > kMaxCount) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("{} expected bytes are more than an mbarrier counts ({})", state->transaction, kMaxCount));
  }
  settle(address, *state);
}

void Mbarriers::complete(int thread, uint64_t address, uint32_t bytes, const Op& op) {
  auto at = states_.find(address);
  if (at == states_.end()) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("a copy completes at {}, which is no mbarrier any more", memory_.describe(kShared, address)));
    return;
  }
  at->second.transaction -= bytes;
  settle(address, at->second);
}

// Phases that have completed for all that the thread knows: those that it waited for, and those whose every arrival is ordered
// before it by other waits (a later slot of a ring that the same threads release in turn).
uint64_t Mbarriers::knownPhases(int thread, const State& state) const {
  const auto ordered = [&](const ClockSnapshot& arrivals) {
    for (size_t c = 0; c < arrivals.seen.size(); c++)
      if (static_cast<int>(c) != state.component && !context_.clocks.ordered(thread, static_cast<int>(c), arrivals.seen[c]))
        return false;
    return !arrivals.seen.empty();
  };
  const uint64_t waited = context_.clocks.row(thread)[state.component];
  if (waited < state.phase && ordered(state.completed)) return state.phase;
  if (waited + 1 < state.phase && ordered(state.before)) return state.phase - 1;
  return waited;
}

bool Mbarriers::testParity(int thread, uint64_t address, uint32_t parity, bool acquire, const Op& op) {
  State* state = find(thread, address, op);
  if (!state) return true;
  if (parity > 1) {
    context_.report(FindingKind::kMbarrier, thread, op.index, fmt::format("a phase parity is 0 or 1, not {}", parity));
    parity &= 1;
  }
  if (context_.options.races) {
    // The thread knows of `known` completed phases, so it means phase `known` or, again, the one before. Two phases on, a parity
    // names another phase than the one meant.
    const uint64_t known = knownPhases(thread, *state);
    const uint64_t after = (known & 1) == parity ? known + 1 : known;  // completed phases when the one meant is over
    if (state->phase > after) {
      context_.report(FindingKind::kMbarrier, thread, op.index,
                      fmt::format("waits for phase {} of the {}, which is two phases on: the parity names another phase",
                                  static_cast<int64_t>(after) - 1, describe(address)),
                      {context_.place(FindingPlace::kBlock, state->last_op)});
    }
  }
  if ((state->phase & 1) == parity) return false;
  if (acquire) context_.clocks.acquire(thread, state->completed);
  return true;
}

bool Mbarriers::testToken(int thread, uint64_t address, uint64_t token, bool acquire, const Op& op) {
  State* state = find(thread, address, op);
  if (!state) return true;
  const uint64_t phase = token >> 20;
  if (phase + 1 < state->phase || phase > state->phase) {
    context_.report(FindingKind::kMbarrier, thread, op.index,
                    fmt::format("waits with a state of phase {} for the {}", phase, describe(address)));
  }
  if (phase >= state->phase) return false;
  if (acquire) context_.clocks.acquire(thread, state->completed);
  return true;
}

void Mbarriers::checkAtEnd() {
  std::vector<uint64_t> addresses;
  addresses.reserve(states_.size());
  for (auto& [address, state] : states_) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  for (uint64_t address : addresses) {
    const State& state = states_[address];
    if (state.transaction != 0) {
      context_.report(FindingKind::kMbarrier, FindingPlace::kBlock, state.last_op,
                      fmt::format("the block ends with the {}", describe(address)),
                      {context_.place(state.init_thread, state.init_op)}, state.last_op);
    }
  }
}

}  // namespace nereid::emulator
