// Memory barriers. PTX ISA 8.8, "Parallel Synchronization and Communication Instructions: mbarrier".
#include "compiler/emulator/intrinsics.h"
#include "compiler/emulator/lanes.h"

namespace nereid::emulator {
namespace {

Flow init(const Op& op, Warp& w) {
  forLanes(w,
           [&](int lane) { w.block.mbarriers().init(w.thread(lane), sharedPointer(w, op, 0, lane), word(w, op, 1, lane), op); });
  return next(w);
}

Flow invalidate(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.block.mbarriers().invalidate(w.thread(lane), sharedPointer(w, op, 0, lane), op); });
  return next(w);
}

enum Arrive : uint64_t { kOne, kCount, kNoComplete, kExpect, kRelaxed = 8, kDrop = 16 };

// Operands: barrier, [count or bytes]. The result is the state before.
Flow arrive(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    Mbarriers& mbarriers = w.block.mbarriers();
    const uint64_t address = sharedPointer(w, op, 0, lane);
    const int thread = w.thread(lane);
    const bool release = !(op.aux & kRelaxed);
    const Mbarriers::Drop drop = op.aux & kDrop ? Mbarriers::Drop::kYes : Mbarriers::Drop::kNo;
    uint64_t state = 0;
    switch (op.aux & 7) {
      case kOne: state = mbarriers.arrive(thread, address, 1, release, op, drop); break;
      case kCount: state = mbarriers.arrive(thread, address, word(w, op, 1, lane), release, op, drop); break;
      case kNoComplete: state = mbarriers.arriveNoComplete(thread, address, word(w, op, 1, lane), op); break;
      case kExpect:
        mbarriers.expect(thread, address, word(w, op, 1, lane), op);
        state = mbarriers.arrive(thread, address, 1, release, op, drop);
        break;
    }
    if (op.results) w.wide(w.result(op, 0))[lane] = state;
  });
  return next(w);
}

Flow expect(const Op& op, Warp& w) {
  forLanes(
      w, [&](int lane) { w.block.mbarriers().expect(w.thread(lane), sharedPointer(w, op, 0, lane), word(w, op, 1, lane), op); });
  return next(w);
}

Flow complete(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    w.block.mbarriers().complete(w.thread(lane), sharedPointer(w, op, 0, lane), word(w, op, 1, lane), op);
  });
  return next(w);
}

enum WaitForm : uint64_t { kParity = 1, kTry = 2, kRelaxedWait = 8 };

// Operands: barrier, parity or state, [time limit]. try_wait may suspend the thread: it returns when the phase is over, when the
// block cannot go on otherwise (then the time limit has passed), and with a seed at times at once, as it may. test_wait returns
// at once.
Flow wait(const Op& op, Warp& w) {
  const bool expired = w.takeExpired();
  uint32_t done = 0;
  uint64_t waiting_for = 0;
  const bool acquire = !(op.aux & kRelaxedWait);
  forLanes(w, [&](int lane) {
    const uint64_t address = sharedPointer(w, op, 0, lane);
    const bool over = op.aux & kParity
                          ? w.block.mbarriers().testParity(w.thread(lane), address, word(w, op, 1, lane), acquire, op)
                          : w.block.mbarriers().testToken(w.thread(lane), address, pointer(w, op, 1, lane), acquire, op);
    if (over)
      done |= 1u << lane;
    else
      waiting_for = address;
  });
  if (w.block.stopped()) return Flow::kStop;
  const bool all = done == w.active;
  const bool impatient = w.block.context().options.seed != 0 && w.block.context().random.below(4) == 0;
  if (done == 0 && (op.aux & kTry) && !expired && !impatient) return w.park(Wait::kMbarrier, waiting_for);
  if (!all) {
    w.block.polled(w);
    w.yield();
  }
  if (op.results) forLanes(w, [&](int lane) { w.narrow(w.result(op, 0))[lane] = done >> lane & 1; });
  return Flow::kNext;
}

Flow pendingCount(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.narrow(w.result(op, 0))[lane] = Mbarriers::pendingOf(pointer(w, op, 0, lane)); });
  return Flow::kNext;
}

Flow fenceInit(const Op&, Warp& w) {
  forLanes(w, [&](int lane) { w.block.mbarriers().fenceInit(w.thread(lane)); });
  return Flow::kNext;
}

// "expect.tx.scope.cta.space.cta", "relaxed.scope.cluster.space.cta", … : an op, perhaps relaxed, then scope and space.
bool parseScoped(std::string_view rest, bool& relaxed) {
  relaxed = rest.starts_with("relaxed.");
  if (relaxed) rest.remove_prefix(8);
  return rest == "scope.cta.space.cta" || rest == "scope.cluster.space.cta" || rest == "scope.cta.space.cluster" ||
         rest == "scope.cluster.space.cluster";
}

bool parseArrive(std::string_view rest, uint64_t& aux) {
  aux = 0;
  if (rest.starts_with("drop")) {
    aux |= kDrop;
    rest.remove_prefix(4);
    if (rest.starts_with(".")) rest.remove_prefix(1);
  }
  if (rest.empty() || rest == "shared") return aux |= kOne, true;
  if (rest == "noComplete" || rest == "noComplete.shared") return aux |= kNoComplete, !(aux & kDrop);
  uint64_t kind = kCount;
  if (rest.starts_with("expect.tx.")) {
    kind = kExpect;
    rest.remove_prefix(10);
  }
  bool relaxed;
  if (!parseScoped(rest, relaxed)) return false;
  aux |= kind | (relaxed ? kRelaxed : 0);
  return true;
}

// After "mbarrier.test.wait" or "mbarrier.try.wait".
bool parseWait(std::string_view rest, uint64_t& aux) {
  aux = 0;
  if (rest.empty() || rest == ".shared") return true;
  if (!rest.starts_with(".")) return false;
  rest.remove_prefix(1);
  if (rest.starts_with("parity.")) {
    aux |= kParity;
    rest.remove_prefix(7);
  }
  if (rest.starts_with("tl.")) rest.remove_prefix(3);
  bool relaxed;
  if (!parseScoped(rest, relaxed)) return false;
  if (relaxed) aux |= kRelaxedWait;
  return true;
}
bool parseTryWait(std::string_view rest, uint64_t& aux) {
  if (!parseWait(rest, aux)) return false;
  aux |= kTry;
  return true;
}

bool parseTransaction(std::string_view rest, uint64_t&) {
  bool relaxed;
  return parseScoped(rest, relaxed) && !relaxed;
}

bool parseArriveName(std::string_view rest, uint64_t& aux) {
  if (rest.starts_with(".")) rest.remove_prefix(1);
  return parseArrive(rest, aux);
}

constexpr Intrinsic kTable[] = {
    {"mbarrier.init", init},
    {"mbarrier.init.shared", init},
    {"mbarrier.inval", invalidate},
    {"mbarrier.inval.shared", invalidate},
    {"mbarrier.expect.tx.*", expect, 0, parseTransaction},
    {"mbarrier.complete.tx.*", complete, 0, parseTransaction},
    {"mbarrier.arrive*", arrive, 0, parseArriveName},
    {"mbarrier.test.wait*", wait, 0, parseWait},
    {"mbarrier.try.wait*", wait, 0, parseTryWait},
    {"mbarrier.pending.count", pendingCount},
    {"fence.mbarrier_init.release.cluster", fenceInit},
};

}  // namespace

std::span<const Intrinsic> mbarrierIntrinsics() { return kTable; }

}  // namespace nereid::emulator
