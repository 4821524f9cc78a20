#include "compiler/emulator/block.h"

#include <fmt/format.h>

namespace nereid::emulator {
namespace {

constexpr int64_t kTurn = 4096;          // ops of a warp's turn without a seed
constexpr uint64_t kPollsForCopies = 2;  // failed polls of every warp without any progress after which a copy must arrive
constexpr uint64_t kPolls = 4096;        // the same where no copy is under way: a deadlock
constexpr int kExpiries = 2;             // times that every try_wait of a stuck block may return false

uint32_t lanesOf(int threads, int warp) {
  const int rest = threads - warp * kLanes;
  return rest >= kLanes ? kAllLanes : (1u << rest) - 1;
}

}  // namespace

Block::Block(const Program& program, const EmulatorLaunch& launch, const EmulatorOptions& options, GlobalMemory& global,
             const std::vector<uint64_t>& arguments, int64_t index)
    : context_(program, launch, options, index),
      memory_(context_, global),
      mbarriers_(context_, memory_),
      copies_(context_, memory_, mbarriers_),
      fenced_(static_cast<size_t>(launch.threads)),
      observed_(static_cast<size_t>(launch.threads)) {
  context_.wakeMbarrier = [this](uint64_t address) {
    for (Warp& warp : warps_) {
      for (Fragment& f : warp.fragments) {
        if (f.wait == Wait::kMbarrier && f.on == address) f.wait = Wait::kNone;
      }
    }
  };
  const int warps = (launch.threads + kLanes - 1) / kLanes;
  warps_.reserve(static_cast<size_t>(warps));
  for (int w = 0; w < warps; w++) {
    Warp& warp = warps_.emplace_back(*this, program, w, lanesOf(launch.threads, w));
    warp.register_count = program.max_registers;
    size_t next = 0;
    for (const Parameter& parameter : program.parameters) {
      for (Column column : parameter.columns) {
        const bool wide = parameter.type == ArgType::kPointer || parameter.type == ArgType::kI64;
        for (int lane = 0; lane < kLanes; lane++) {
          if (wide)
            warp.wide(column)[lane] = arguments[next];
          else
            warp.narrow(column)[lane] = static_cast<uint32_t>(arguments[next]);
        }
        next++;
      }
    }
  }
}

void Block::run() {
  const bool random = context_.options.seed != 0;
  std::vector<int> ready;
  size_t turn = 0;
  while (!context_.stopped) {
    ready.clear();
    bool alive = false;
    for (Warp& warp : warps_) {
      alive |= !warp.exited();
      if (warp.runnable()) ready.push_back(warp.index);
    }
    if (!alive) break;
    if (context_.progress != last_progress_) {
      last_progress_ = context_.progress;
      expiries_ = 0;
    }
    const uint64_t polls = fewestPolls();
    if (ready.empty() || (polls >= kPollsForCopies && copies_.any()) || polls >= kPolls) {
      if (unstick(ready.empty())) continue;
      reportDeadlock();
      break;
    }
    const size_t at = random ? context_.random.below(ready.size()) : turn++ % ready.size();
    // Short and long turns: some races need a warp to fall far behind.
    const int64_t turn_ops = random ? int64_t{1} << context_.random.below(12) : kTurn;
    int64_t budget = turn_ops;
    warps_[static_cast<size_t>(ready[at])].run(budget);
    warp_ops_ += static_cast<uint64_t>(turn_ops - budget);
    if (context_.arrival == Arrival::kRandom && copies_.any() && context_.random.below(4) == 0) copies_.arriveOne();
    if (warp_ops_ > context_.options.max_warp_ops) {
      const uint32_t at = warps_[static_cast<size_t>(ready.front())].fragments.front().pc;
      context_.report(FindingKind::kEndless, FindingPlace::kBlock, at,
                      fmt::format("more than {} warp ops were executed", context_.options.max_warp_ops), places());
      break;
    }
  }
  if (context_.stopped) return;
  for (Warp& warp : warps_) {
    if (!warp.exited()) return;
  }
  copies_.finish();
  mbarriers_.checkAtEnd();
  checkRegisterGroups();
}

void Block::polled(Warp& warp) {
  if (warp.polls_at != context_.progress) warp.polls = 0;
  warp.polls_at = context_.progress;
  warp.polls++;
}

// Of the warps that can run; 0 where one has not polled since the last progress.
uint64_t Block::fewestPolls() const {
  uint64_t fewest = UINT64_MAX;
  for (const Warp& warp : warps_) {
    if (warp.runnable()) fewest = std::min(fewest, warp.polls_at == context_.progress ? warp.polls : 0);
  }
  return fewest;
}

// Nothing can run, or warps only poll: a copy must arrive, or the time of a try_wait is over.
bool Block::unstick(bool nothing_runs) {
  if (copies_.any()) {
    copies_.arriveOne();
    return true;
  }
  if (!nothing_runs || expiries_++ >= kExpiries) return false;
  bool any = false;
  for (Warp& warp : warps_) {
    for (Fragment& f : warp.fragments) {
      if (f.wait != Wait::kMbarrier) continue;
      f.wait = Wait::kNone;
      f.expired = any = true;
    }
  }
  return any;
}

std::vector<FindingPlace> Block::places() {
  std::vector<FindingPlace> places;
  for (Warp& warp : warps_) {
    for (const Fragment& f : warp.fragments) {
      FindingPlace place = context_.place(warp.thread(std::countr_zero(f.lanes)), f.pc);
      switch (f.wait) {
        case Wait::kBarrier:
          place.op += fmt::format(", barrier {}, {} of {} threads", f.on, barriers_[f.on].arrived, barriers_[f.on].expected);
          break;
        case Wait::kMbarrier: place.op += ", " + mbarriers_.describe(f.on); break;
        case Wait::kLanes: place.op += fmt::format(", lanes {:#010x} for lanes {:#010x}", f.lanes, f.on); break;
        case Wait::kRegisters: place.op += fmt::format(", {} registers are free", free_registers_); break;
        case Wait::kNone: break;
      }
      places.push_back(std::move(place));
    }
  }
  return places;
}

void Block::reportDeadlock() {
  std::vector<FindingPlace> all = places();
  // A collective op that waits for lanes which are elsewhere is the cause where there is one.
  for (Warp& warp : warps_) {
    for (const Fragment& f : warp.fragments) {
      if (f.wait != Wait::kLanes) continue;
      context_.reportFatal(
          FindingKind::kDivergence, warp.thread(std::countr_zero(f.lanes)), f.pc,
          fmt::format("lanes {:#010x} must take part, but only {:#010x} are here, and no warp can go on", f.on, f.lanes),
          std::move(all));
      return;
    }
  }
  for (Warp& warp : warps_) {
    if (warp.fragments.empty()) continue;
    const Fragment& f = warp.fragments.front();
    context_.reportFatal(FindingKind::kDeadlock, warp.thread(std::countr_zero(f.lanes)), f.pc, "no warp can go on",
                         std::move(all));
    return;
  }
}

Block::BarrierResult Block::arriveAtBarrier(Warp& warp, const Op& op, uint32_t id, uint32_t threads, bool aligned, bool waits,
                                            uint32_t vote) {
  const int thread = warp.firstThread();
  if (id >= barriers_.size()) {
    context_.reportFatal(FindingKind::kBarrier, thread, op.index, fmt::format("there are barriers 0 to 15, not {}", id));
    return {};
  }
  Barrier& barrier = barriers_[id];
  const uint32_t expected = threads ? threads : static_cast<uint32_t>(warps_.size()) * kLanes;
  if (expected % kLanes != 0 || expected > warps_.size() * kLanes) {
    context_.reportFatal(FindingKind::kBarrier, thread, op.index,
                         fmt::format("{} threads cannot meet at a barrier of a block of {} warps", expected, warps_.size()));
    return {};
  }
  if (barrier.arrived == 0) {
    barrier.expected = expected;
    barrier.op = op.index;
    barrier.thread = thread;
    barrier.votes = 0;
    barrier.clock.clear();
  } else if (barrier.expected != expected) {
    context_.reportFatal(
        FindingKind::kBarrier, thread, op.index,
        fmt::format("barrier {} is for {} threads here and for {} at another warp", id, expected, barrier.expected),
        {context_.place(barrier.thread, barrier.op)});
    return {};
  }
  forLanes(warp, [&](int lane) { context_.clocks.release(warp.thread(lane), barrier.clock); });
  barrier.votes += static_cast<uint32_t>(std::popcount(vote));
  barrier.arrived += aligned ? kLanes : static_cast<uint32_t>(std::popcount(warp.active));
  progressed();
  if (barrier.arrived > barrier.expected) {
    context_.reportFatal(FindingKind::kBarrier, thread, op.index,
                         fmt::format("{} threads arrive at barrier {}, which is for {}", barrier.arrived, id, barrier.expected),
                         {context_.place(barrier.thread, barrier.op)});
    return {};
  }
  if (barrier.arrived < barrier.expected) {
    if (waits) warp.park(Wait::kBarrier, id);
    return {};
  }
  barrier.arrived = 0;
  const uint32_t votes = barrier.votes;
  for (Warp& other : warps_) {
    for (Fragment& f : other.fragments) {
      if (f.wait != Wait::kBarrier || f.on != id) continue;
      for (uint32_t rest = f.lanes; rest; rest &= rest - 1)
        context_.clocks.acquire(other.thread(std::countr_zero(rest)), barrier.clock);
      const Op& waiting = context_.program.ops[f.pc];
      if (waiting.results) {
        // barrier.red: `aux` says how the votes become the result.
        for (uint32_t rest = f.lanes; rest; rest &= rest - 1)
          other.narrow(other.result(waiting, 0))[std::countr_zero(rest)] =
              reduceVotes(waiting.aux & 0xFF, votes, barrier.expected);
      }
      f.wait = Wait::kNone;
      f.pc++;
    }
  }
  if (waits) forLanes(warp, [&](int lane) { context_.clocks.acquire(warp.thread(lane), barrier.clock); });
  return {true, votes};
}

uint32_t reduceVotes(uint64_t how, uint32_t votes, uint32_t threads) {
  switch (how) {
    case kVotesAnd: return votes == threads;
    case kVotesOr: return votes != 0;
    default: return votes;
  }
}

bool Block::setRegisters(Warp& warp, const Op& op, int count, bool increase) {
  auto misuse = [&](std::string what) {
    context_.report(FindingKind::kRegisters, warp.firstThread(), op.index, std::move(what));
    return true;
  };
  if (count < 24 || count > 256 || count % 8 != 0)
    return misuse(fmt::format("a register count is a multiple of 8 from 24 to 256, not {}", count));
  if (warp.register_count == 0) return misuse("the kernel has no register limit at launch (maxnreg), which setmaxnreg needs");
  if (increase ? count < warp.register_count : count > warp.register_count) {
    return misuse(fmt::format("setmaxnreg.{} to {} from {} registers", increase ? "inc" : "dec", count, warp.register_count));
  }
  const int64_t change = static_cast<int64_t>(warp.register_count - count) * kLanes;
  if (free_registers_ + change < 0) return false;
  free_registers_ += change;
  warp.register_count = count;
  warp.register_history.push_back(count);
  warp.register_op = op.index;
  progressed();
  if (change > 0) {
    for (Warp& other : warps_) {
      for (Fragment& f : other.fragments) {
        if (f.wait == Wait::kRegisters) f.wait = Wait::kNone;
      }
    }
  }
  return true;
}

// A warp group (four warps from a multiple of four) executes setmaxnreg together.
void Block::checkRegisterGroups() {
  for (size_t first = 0; first < warps_.size(); first += 4) {
    for (size_t w = first + 1; w < std::min(first + 4, warps_.size()); w++) {
      if (warps_[w].register_history == warps_[first].register_history) continue;
      const Warp& named = warps_[w].register_history.empty() ? warps_[first] : warps_[w];
      context_.report(FindingKind::kRegisters, named.thread(0), named.register_op,
                      fmt::format("warps {} and {} are of one warp group and set different register counts", first, w));
      return;
    }
  }
}

void Block::syncLanes(Warp& warp, uint32_t lanes) {
  if (!context_.options.races) return;
  ClockSnapshot clock;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) context_.clocks.release(warp.thread(std::countr_zero(rest)), clock);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) context_.clocks.acquire(warp.thread(std::countr_zero(rest)), clock);
}

// What the thread knows, as another block sees it.
ForeignClockRef Block::ownForeign(int thread) {
  ClockSnapshot clock;
  context_.clocks.release(thread, clock);
  auto own = std::make_shared<ForeignClock>();
  (*own)[context_.index] = std::make_shared<ClockRow>(std::move(clock.seen));
  return joinForeign(own, context_.clocks.foreign(thread));
}

void Block::releaseAt(int thread, uint64_t address) {
  ForeignClockRef own = ownForeign(thread);
  ForeignClockRef& at = memory_.global().released[address];
  at = joinForeign(at, own);
}

void Block::acquireAt(int thread, uint64_t address) {
  auto at = memory_.global().released.find(address);
  if (at == memory_.global().released.end()) return;
  context_.clocks.acquireForeign(thread, at->second);
  // Threads of this block among them.
  if (auto mine = at->second->find(context_.index); mine != at->second->end()) {
    ClockSnapshot clock;
    clock.seen = *mine->second;
    context_.clocks.acquire(thread, clock);
  }
}

void Block::fence(int thread) {
  fenced_[static_cast<size_t>(thread)] = ownForeign(thread);
  if (ForeignClockRef& seen = observed_[static_cast<size_t>(thread)]; seen) {
    context_.clocks.acquireForeign(thread, seen);
    if (auto mine = seen->find(context_.index); mine != seen->end()) {
      ClockSnapshot clock;
      clock.seen = *mine->second;
      context_.clocks.acquire(thread, clock);
    }
    seen = nullptr;
  }
}

void Block::relaxedAtomic(int thread, uint64_t address) {
  auto& released = memory_.global().released;
  ForeignClockRef& seen = observed_[static_cast<size_t>(thread)];
  if (auto at = released.find(address); at != released.end()) seen = joinForeign(seen, at->second);
  if (const ForeignClockRef& own = fenced_[static_cast<size_t>(thread)]) {
    ForeignClockRef& at = released[address];
    at = joinForeign(at, own);
  }
}

}  // namespace nereid::emulator
