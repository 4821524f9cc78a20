#include "compiler/emulator/clocks.h"

#include <algorithm>

namespace nereid::emulator {
namespace {

void raiseRow(uint32_t* to, const uint32_t* from, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] = std::max(to[i], from[i]);
}

void raiseRow(ClockRow& to, const uint32_t* from, size_t count) {
  if (to.size() < count) to.resize(count);
  raiseRow(to.data(), from, count);
}

}  // namespace

ForeignClockRef joinForeign(const ForeignClockRef& a, const ForeignClockRef& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  auto joined = std::make_shared<ForeignClock>(*a);
  for (const auto& [block, row] : *b) {
    auto& mine = (*joined)[block];
    if (!mine) {
      mine = row;
    } else if (mine != row) {
      auto both = std::make_shared<ClockRow>(*mine);
      raiseRow(*both, row->data(), row->size());
      mine = both;
    }
  }
  return joined;
}

void ClockSnapshot::clear() {
  seen.clear();
  fenced.clear();
  foreign = nullptr;
}

void ClockSnapshot::join(const ClockSnapshot& other) {
  raiseRow(seen, other.seen.data(), other.seen.size());
  raiseRow(fenced, other.fenced.data(), other.fenced.size());
  foreign = joinForeign(foreign, other.foreign);
}

void ClockSnapshot::raise(int component, uint32_t epoch) {
  const size_t at = static_cast<size_t>(component);
  if (seen.size() <= at) seen.resize(at + 1);
  seen[at] = std::max(seen[at], epoch);
}

Clocks::Clocks(int threads, bool proxies)
    : threads_(threads), components_(threads), stride_(threads + 32), proxies_(proxies), foreign_(static_cast<size_t>(threads)) {
  seen_.resize(static_cast<size_t>(threads) * stride_);
  if (proxies) fenced_.resize(seen_.size());
  for (int t = 0; t < threads; t++) seen(t)[t] = 1;
}

int Clocks::addComponent() {
  if (components_ == stride_) {
    const int wider = stride_ * 2;
    auto widen = [&](std::vector<uint32_t>& rows) {
      if (rows.empty()) return;
      std::vector<uint32_t> moved(static_cast<size_t>(threads_) * wider);
      for (int t = 0; t < threads_; t++)
        std::copy_n(rows.data() + static_cast<size_t>(t) * stride_, stride_, moved.data() + static_cast<size_t>(t) * wider);
      rows = std::move(moved);
    };
    widen(seen_);
    widen(fenced_);
    stride_ = wider;
  }
  return components_++;
}

bool Clocks::knows(int thread, int64_t block) const { return foreign_[thread] && foreign_[thread]->count(block) != 0; }

void Clocks::release(int thread, ClockSnapshot& into) {
  raiseRow(into.seen, seen(thread), static_cast<size_t>(components_));
  if (proxies_) raiseRow(into.fenced, fenced(thread), static_cast<size_t>(components_));
  into.foreign = joinForeign(into.foreign, foreign_[thread]);
  seen(thread)[thread]++;
}

void Clocks::acquire(int thread, const ClockSnapshot& from) {
  raiseRow(seen(thread), from.seen.data(), from.seen.size());
  if (proxies_) raiseRow(fenced(thread), from.fenced.data(), from.fenced.size());
  foreign_[thread] = joinForeign(foreign_[thread], from.foreign);
}

void Clocks::raise(int thread, int component, uint32_t epoch) {
  uint32_t& at = seen(thread)[component];
  at = std::max(at, epoch);
}

void Clocks::fenceProxy(int thread) {
  if (!proxies_) return;
  raiseRow(fenced(thread), seen(thread), static_cast<size_t>(components_));
  // Later writes of this epoch are not covered.
  seen(thread)[thread]++;
}

}  // namespace nereid::emulator
