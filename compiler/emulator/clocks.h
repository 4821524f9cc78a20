// Happens-before of one block, as vector clocks. A component is a thread, or something whose completion others wait for: the
// phases of an mbarrier, one thread's cp.async copies, one thread's bulk stores. A thread's clock says up to which epoch of each
// component the memory effects are ordered before its next op. A second clock says which of these the async proxy sees too
// (fence.proxy.async).
//
// Method: Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009, with the proxies of the PTX
// memory consistency model.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace nereid::emulator {

using ClockRow = std::vector<uint32_t>;

// What threads of other blocks did before, by block: learnt through atomics on global memory.
using ForeignClock = std::map<int64_t, std::shared_ptr<const ClockRow>>;
using ForeignClockRef = std::shared_ptr<const ForeignClock>;  // null: nothing
ForeignClockRef joinForeign(const ForeignClockRef& a, const ForeignClockRef& b);

// What an arrival leaves behind and a wait takes over.
struct ClockSnapshot {
  ClockRow seen, fenced;
  ForeignClockRef foreign;
  void clear();
  void join(const ClockSnapshot& other);
  void raise(int component, uint32_t epoch);
};

class Clocks {
 public:
  // `proxies`: whether to keep the async proxy's clocks.
  Clocks(int threads, bool proxies);

  int threads() const { return threads_; }
  int components() const { return components_; }
  int addComponent();

  uint32_t epoch(int thread) const { return seen(thread)[thread]; }
  bool ordered(int thread, int component, uint32_t epoch) const { return seen(thread)[component] >= epoch; }
  bool fenced(int thread, int component, uint32_t epoch) const { return !proxies_ || fenced(thread)[component] >= epoch; }
  bool knows(int thread, int64_t block) const;
  const ForeignClockRef& foreign(int thread) const { return foreign_[thread]; }
  const uint32_t* row(int thread) const { return seen(thread); }

  void release(int thread, ClockSnapshot& into);  // and starts a new epoch
  void acquire(int thread, const ClockSnapshot& from);
  void acquireForeign(int thread, const ForeignClockRef& from) { foreign_[thread] = joinForeign(foreign_[thread], from); }
  void raise(int thread, int component, uint32_t epoch);
  void fenceProxy(int thread);  // what is ordered before becomes visible to the async proxy

 private:
  uint32_t* seen(int thread) { return seen_.data() + static_cast<size_t>(thread) * stride_; }
  const uint32_t* seen(int thread) const { return seen_.data() + static_cast<size_t>(thread) * stride_; }
  uint32_t* fenced(int thread) { return fenced_.data() + static_cast<size_t>(thread) * stride_; }
  const uint32_t* fenced(int thread) const { return fenced_.data() + static_cast<size_t>(thread) * stride_; }

  int threads_, components_, stride_;
  bool proxies_;
  std::vector<uint32_t> seen_, fenced_;
  std::vector<ForeignClockRef> foreign_;
};

}  // namespace nereid::emulator
