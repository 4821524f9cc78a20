#include "compiler/emulator/async_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nereid::emulator {

AsyncCopies::AsyncCopies(BlockContext& context, BlockMemory& memory, Mbarriers& mbarriers)
    : context_(context),
      memory_(memory),
      mbarriers_(mbarriers),
      cp_async_(static_cast<size_t>(context.launch.threads)),
      bulk_stores_(static_cast<size_t>(context.launch.threads)) {}

AsyncCopies::Stream& AsyncCopies::stream(std::vector<Stream>& streams, int thread) {
  Stream& s = streams[static_cast<size_t>(thread)];
  if (s.component < 0) {
    s.component = context_.clocks.addComponent();
    s.stores = &streams == &bulk_stores_;
  }
  return s;
}

void AsyncCopies::push(Stream& s, Copy copy) {
  s.pending.push_back(copy);
  if (!s.listed) {
    s.listed = true;
    busy_.push_back(&s);
  }
  if (context_.arrival == Arrival::kAtOnce) landUpTo(s, s.issued);
}

void AsyncCopies::copy(int thread, uint64_t shared, uint64_t global, uint32_t bytes, uint32_t read, const Op& op) {
  Stream& s = stream(cp_async_, thread);
  if (read > bytes) {
    context_.report(FindingKind::kOutOfBounds, thread, op.index,
                    fmt::format("a cp.async of {} bytes cannot read {}", bytes, read));
    read = bytes;
  }
  Copy copy;
  copy.sequence = ++s.issued;
  copy.component = s.component;
  copy.epoch = s.issued;
  copy.to = shared;
  copy.bytes = bytes;
  copy.read = read;
  copy.thread = thread;
  copy.op = op.index;
  if (read) copy.from = memory_.access(thread, kGlobal, global, read, bytes, Access::kRead, op);
  Actor actor{thread, s.component, s.issued};
  actor.pending = true;
  copy.target = memory_.access(actor, kShared, shared, bytes, bytes, Access::kWrite, op);
  if (!copy.target || (read && !copy.from)) return;
  push(s, copy);
}

void AsyncCopies::commit(int thread) {
  Stream& s = stream(cp_async_, thread);
  s.groups.push_back(s.issued);
}

uint32_t AsyncCopies::sequenceOf(const Stream& s, uint32_t groups_left) {
  return s.groups.size() > groups_left ? s.groups[s.groups.size() - 1 - groups_left] : 0;
}

void AsyncCopies::wait(int thread, uint32_t groups_left, const Op&) {
  Stream& s = stream(cp_async_, thread);
  const uint32_t sequence = sequenceOf(s, groups_left);
  landUpTo(s, sequence);
  context_.clocks.raise(thread, s.component, sequence);
}

void AsyncCopies::waitAll(int thread, const Op&) {
  Stream& s = stream(cp_async_, thread);
  s.groups.push_back(s.issued);
  landUpTo(s, s.issued);
  context_.clocks.raise(thread, s.component, s.issued);
}

void AsyncCopies::arriveOn(int thread, uint64_t mbarrier, bool increment, const Op& op) {
  Stream& s = stream(cp_async_, thread);
  if (!mbarriers_.find(thread, mbarrier, op)) return;
  if (increment) mbarriers_.addPending(thread, mbarrier, op);
  s.arrivals.push_back({s.issued, mbarrier, op.index});
  afterLanding(s, thread);
}

// Arrivals whose copies are all there.
void AsyncCopies::afterLanding(Stream& s, int thread) {
  uint32_t oldest = UINT32_MAX;
  for (const Copy& copy : s.pending) oldest = std::min(oldest, copy.sequence);
  while (!s.arrivals.empty() && s.arrivals.front().sequence < oldest) {
    const Arrive arrive = s.arrivals.front();
    s.arrivals.erase(s.arrivals.begin());
    mbarriers_.arriveForCopies(thread, arrive.mbarrier, s.component, arrive.sequence, context_.program.ops[arrive.op]);
  }
}

void AsyncCopies::land(Stream& s, size_t at) {
  const Copy copy = s.pending[at];
  s.pending.erase(s.pending.begin() + static_cast<int64_t>(at));
  if (s.stores) {
    for (uint32_t i = 0; i < copy.bytes; i++) {
      if (copy.byte_mask >> (i % 16) & 1) copy.target[i] = copy.from[i];
    }
    memory_.arrived(kGlobal, copy.to, copy.bytes, copy.component, copy.epoch);
  } else {
    if (copy.read) std::memcpy(copy.target, copy.from, copy.read);
    std::memset(copy.target + copy.read, 0, copy.bytes - copy.read);
    memory_.arrived(kShared, copy.to, copy.bytes, copy.component, copy.epoch);
  }
  context_.progress++;
}

void AsyncCopies::landUpTo(Stream& s, uint32_t sequence) {
  if (s.pending.empty()) return;
  const int thread = s.pending.front().thread;
  for (size_t i = 0; i < s.pending.size();) {
    if (s.pending[i].sequence <= sequence)
      land(s, i);
    else
      i++;
  }
  afterLanding(s, thread);
  unlistIdle();
}

void AsyncCopies::unlistIdle() {
  for (size_t i = 0; i < busy_.size();) {
    if (!busy_[i]->pending.empty()) {
      i++;
      continue;
    }
    busy_[i]->listed = false;
    busy_[i] = busy_.back();
    busy_.pop_back();
  }
}

void AsyncCopies::bulkLoad(int thread, uint64_t shared, uint64_t global, uint32_t bytes, uint64_t mbarrier, const Op& op) {
  Mbarriers::State* state = mbarriers_.find(thread, mbarrier, op);
  if (!state) return;
  if (context_.options.races && !state->init_fenced && !context_.clocks.fenced(thread, state->init_thread, state->init_epoch)) {
    context_.report(FindingKind::kMissingProxyFence, thread, op.index,
                    "the mbarrier's initialisation is not visible to the async proxy: no fence.mbarrier_init follows it",
                    {context_.place(state->init_thread, state->init_op)});
  }
  if (bytes == 0 || bytes % 16 != 0) {
    context_.report(FindingKind::kMisaligned, thread, op.index,
                    fmt::format("a bulk copy's size is a multiple of 16, not {}", bytes));
    return;
  }
  Copy copy;
  copy.to = shared;
  copy.bytes = copy.read = bytes;
  copy.thread = thread;
  copy.op = op.index;
  copy.mbarrier = mbarrier;
  copy.phase = state->phase;
  copy.component = state->component;
  copy.epoch = static_cast<uint32_t>(state->phase) + 1;
  Actor actor{thread, copy.component, copy.epoch};
  actor.async_proxy = true;
  actor.pending = true;
  copy.from = memory_.access(thread, kGlobal, global, bytes, 16, Access::kRead, op);
  copy.target = memory_.access(actor, kShared, shared, bytes, 16, Access::kWrite, op);
  if (!copy.from || !copy.target) return;
  bulk_loads_.push_back(copy);
  if (context_.arrival == Arrival::kAtOnce) landBulkLoad(bulk_loads_.size() - 1);
}

void AsyncCopies::landBulkLoad(size_t at) {
  const Copy copy = bulk_loads_[at];
  bulk_loads_.erase(bulk_loads_.begin() + static_cast<int64_t>(at));
  std::memcpy(copy.target, copy.from, copy.bytes);
  memory_.arrived(kShared, copy.to, copy.bytes, copy.component, copy.epoch);
  const Op& op = context_.program.ops[copy.op];
  if (mbarriers_.live(copy.mbarrier) && mbarriers_.find(copy.thread, copy.mbarrier, op)->phase != copy.phase) {
    context_.report(FindingKind::kMbarrier, copy.thread, copy.op,
                    fmt::format("its {} bytes were not expected in phase {} of the {}, which ended before they arrived",
                                copy.bytes, copy.phase, mbarriers_.describe(copy.mbarrier)));
  }
  mbarriers_.complete(copy.thread, copy.mbarrier, copy.bytes, op);
}

void AsyncCopies::bulkStore(int thread, uint64_t global, uint64_t shared, uint32_t bytes, uint32_t byte_mask, const Op& op) {
  if (bytes == 0 || bytes % 16 != 0) {
    context_.report(FindingKind::kMisaligned, thread, op.index,
                    fmt::format("a bulk copy's size is a multiple of 16, not {}", bytes));
    return;
  }
  Stream& s = stream(bulk_stores_, thread);
  Copy copy;
  copy.sequence = ++s.issued;
  copy.component = s.component;
  copy.epoch = s.issued;
  copy.to = global;
  copy.bytes = bytes;
  copy.byte_mask = byte_mask;
  copy.thread = thread;
  copy.op = op.index;
  Actor actor{thread, s.component, s.issued};
  actor.async_proxy = true;
  actor.pending = true;
  copy.from = memory_.access(actor, kShared, shared, bytes, 16, Access::kRead, op);
  copy.target = memory_.access(actor, kGlobal, global, bytes, 16, Access::kWrite, op);
  if (copy.from && copy.target) push(s, copy);
}

void AsyncCopies::bulkCommit(int thread) {
  Stream& s = stream(bulk_stores_, thread);
  s.groups.push_back(s.issued);
}

void AsyncCopies::bulkWait(int thread, uint32_t groups_left, bool, const Op&) {
  Stream& s = stream(bulk_stores_, thread);
  const uint32_t sequence = sequenceOf(s, groups_left);
  landUpTo(s, sequence);
  context_.clocks.raise(thread, s.component, sequence);
}

void AsyncCopies::arriveOne() {
  const bool random = context_.options.seed != 0;
  const size_t streams = busy_.size();
  const bool bulk = !bulk_loads_.empty() && (streams == 0 || !random || context_.random.below(2) == 0);
  if (bulk) {
    landBulkLoad(random ? context_.random.below(bulk_loads_.size()) : 0);
    return;
  }
  if (streams == 0) return;
  Stream& s = *busy_[random ? context_.random.below(streams) : 0];
  const int thread = s.pending.front().thread;
  land(s, random ? context_.random.below(s.pending.size()) : 0);
  afterLanding(s, thread);
  if (s.pending.empty()) unlistIdle();
}

void AsyncCopies::finish() {
  while (!bulk_loads_.empty()) {
    context_.report(FindingKind::kPendingCopy, bulk_loads_.front().thread, bulk_loads_.front().op,
                    "the block ends and nobody has waited for this copy");
    landBulkLoad(0);
  }
  for (auto* streams : {&cp_async_, &bulk_stores_}) {
    for (size_t t = 0; t < streams->size(); t++) {
      Stream& s = (*streams)[t];
      if (s.component < 0) continue;
      if (!s.pending.empty()) {
        context_.report(FindingKind::kPendingCopy, s.pending.front().thread, s.pending.front().op,
                        "the block ends and nobody has waited for this copy");
      }
      landUpTo(s, s.issued);
    }
  }
}

}  // namespace nereid::emulator
