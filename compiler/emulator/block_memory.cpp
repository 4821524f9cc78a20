#include "compiler/emulator/block_memory.h"

#include <fmt/format.h>

namespace nereid::emulator {
namespace {

constexpr uint64_t kWindowMask = (uint64_t{1} << kWindowBits) - 1;

const char* accessVerb(Access kind) { return kind == Access::kRead ? "reads" : kind == Access::kWrite ? "writes" : "updates"; }

}  // namespace

BlockMemory::BlockMemory(BlockContext& context, GlobalMemory& global)
    : context_(context),
      global_(global),
      shared_(context.program.static_shared_bytes + static_cast<size_t>(context.launch.dynamic_shared_bytes), 0xCD),
      shared_shadow_(shared_.size(), false),
      local_(static_cast<size_t>(context.program.local_bytes) * static_cast<size_t>(context.launch.threads), 0xCD) {}

std::string BlockMemory::describe(Space space, uint64_t address) const {
  if (space == kShared) {
    if (address < kSharedBase) return fmt::format("shared address {:#x}, which is below the block's shared memory", address);
    const uint64_t at = address - kSharedBase;
    if (at >= shared_.size())
      return fmt::format("{} bytes past the end of the block's {} bytes of shared memory", at - shared_.size(), shared_.size());
    return fmt::format("shared byte {}", at);
  }
  if (space == kLocal) return fmt::format("local byte {}", address & kWindowMask);
  return global_.describe(address);
}

uint8_t* BlockMemory::resolve(const Actor& actor, Space& space, uint64_t& address, uint32_t bytes, Access kind, const Op& op,
                              GlobalMemory::Range*& range) {
  const uint64_t window = address >> kWindowBits;
  if (space == kCluster) space = kShared;  // a cluster is one block here
  if (space == kGeneric) {
    if (window == kSharedWindow) {
      space = kShared;
      address &= kWindowMask;
    } else {
      space = window == kLocalWindow ? kLocal : kGlobal;
    }
  }
  auto outside = [&] {
    context_.report(FindingKind::kOutOfBounds, actor.thread, op.index,
                    fmt::format("{} {} bytes at {}", accessVerb(kind), bytes, describe(space, address)));
    return nullptr;
  };
  if (space == kShared) {
    if (address < kSharedBase || address - kSharedBase + bytes > shared_.size() || address > kWindowMask) return outside();
    return shared_.data() + (address - kSharedBase);
  }
  if (space == kLocal) {
    const uint64_t at = address & kWindowMask;
    if (window != kLocalWindow || at + bytes > context_.program.local_bytes) return outside();
    return local_.data() + static_cast<size_t>(actor.thread) * context_.program.local_bytes + at;
  }
  range = global_.find(address);
  if (!range || address < range->base || address - range->base + bytes > range->buffer.bytes) return outside();
  if (kind != Access::kRead && !range->buffer.writable) {
    context_.report(FindingKind::kReadOnly, actor.thread, op.index,
                    fmt::format("{} {}", accessVerb(kind), describe(space, address)));
    return nullptr;
  }
  return static_cast<uint8_t*>(range->buffer.data) + (address - range->base);
}

uint8_t* BlockMemory::access(int thread, Space space, uint64_t address, uint32_t bytes, uint32_t align, Access kind,
                             const Op& op) {
  Actor actor = threadActor(thread);
  actor.atomic = kind == Access::kAtomic;
  return access(actor, space, address, bytes, align, kind, op);
}

uint8_t* BlockMemory::access(const Actor& who, Space space, uint64_t address, uint32_t bytes, uint32_t align, Access kind,
                             const Op& op) {
  Actor actor = who;
  if (address & (align - 1)) {
    context_.report(
        FindingKind::kMisaligned, actor.thread, op.index,
        fmt::format("{} {} bytes at {}, which is no multiple of {}", accessVerb(kind), bytes, describe(space, address), align));
  }
  GlobalMemory::Range* range = nullptr;
  uint8_t* host = resolve(actor, space, address, bytes, kind, op, range);
  if (!host) return nullptr;
  if (space == kShared) {
    shared_shadow_.forCells(address - kSharedBase, bytes, [&, at = address](Cell* cells, uint64_t count, uint64_t unit) mutable {
      note(actor, cells, count, unit, kind, op, kShared, at, true);
      at += count * unit;
    });
  } else if (range && range->tracked) {
    std::lock_guard lock(global_.mutex);
    actor.same_flag = actor.flag && *host == *actor.flag;
    range->shadow.forCells(address - range->base, bytes, [&, at = address](Cell* cells, uint64_t count, uint64_t unit) mutable {
      note(actor, cells, count, unit, kind, op, kGlobal, at, !range->buffer.initialised);
      at += count * unit;
    });
  }
  return host;
}

bool BlockMemory::orderedAfter(int thread, int64_t block, int component, uint32_t epoch) const {
  if (block == context_.index) return context_.clocks.ordered(thread, component, epoch);
  const ForeignClockRef& foreign = context_.clocks.foreign(thread);
  if (!foreign) return false;
  auto at = foreign->find(block);
  return at != foreign->end() && static_cast<size_t>(component) < at->second->size() &&
         (*at->second)[static_cast<size_t>(component)] >= epoch;
}

void BlockMemory::note(const Actor& actor, Cell* cells, uint64_t count, uint64_t unit, Access kind, const Op& op, Space space,
                       uint64_t address, bool check_written) {
  const EmulatorOptions& options = context_.options;
  for (uint64_t i = 0; i < count;) {
    const Cell seen = cells[i];
    uint64_t end = i + 1;
    while (end < count && cells[end] == seen) end++;
    if (seen.flags & kBarrierCell) {
      context_.report(FindingKind::kMbarrier, actor.thread, op.index,
                      fmt::format("{} {}, where a live mbarrier is", accessVerb(kind), describe(space, address + i * unit)));
    }
    if (kind != Access::kWrite && check_written && options.uninitialised && !(seen.flags & kWritten)) {
      context_.report(FindingKind::kUninitialised, actor.thread, op.index,
                      fmt::format("reads {}, which nobody wrote", describe(space, address + i * unit)));
    }
    Cell next = seen;
    if (options.races) {
      checkAfterWrite(actor, seen, kind, op, space, address + i * unit);
      if (kind != Access::kRead) checkAfterReads(actor, seen, op, space, address + i * unit);
    }
    if (kind == Access::kRead) {
      if (options.races) {
        const uint32_t set = seen.read_block == context_.index ? seen.readers : 0;
        next.readers = context_.readers.add(set, actor.thread, static_cast<uint16_t>(actor.component), actor.epoch, op.index);
        next.read_block = static_cast<int32_t>(context_.index);
      }
    } else {
      next.epoch = actor.epoch;
      next.writer = static_cast<uint16_t>(actor.component);
      next.flags = static_cast<uint8_t>(kWritten | (actor.pending ? kPending : 0) | (actor.atomic ? kAtomic : 0));
      next.op = op.index;
      next.readers = 0;
      next.write_block = static_cast<int32_t>(context_.index);
      next.read_block = -1;
    }
    for (; i < end; i++) cells[i] = next;
  }
}

void BlockMemory::checkAfterWrite(const Actor& actor, const Cell& cell, Access kind, const Op& op, Space space,
                                  uint64_t address) {
  if (cell.epoch == 0 || (actor.atomic && (cell.flags & kAtomic))) return;
  const bool copied = cell.write_block == context_.index && !context_.isThread(cell.writer);
  const bool ordered = orderedAfter(actor.thread, cell.write_block, cell.writer, cell.epoch);
  // A copy may not have arrived although its mbarrier's phase is over: then the bytes it brings were not announced.
  if (ordered && !(cell.flags & kPending)) {
    if (actor.async_proxy && !copied && cell.write_block == context_.index &&
        !context_.clocks.fenced(actor.thread, cell.writer, cell.epoch)) {
      context_.report(FindingKind::kMissingProxyFence, actor.thread, op.index,
                      fmt::format("{} {} through the async proxy, after plain stores that no fence.proxy.async follows",
                                  accessVerb(kind), describe(space, address)),
                      {context_.place(cell.writer, cell.op)}, cell.op);
    }
    return;
  }
  if (kind == Access::kWrite && actor.same_flag && !copied) return;
  FindingPlace other = context_.place(copied ? FindingPlace::kCopy : cell.writer, cell.op);
  other.block = cell.write_block;
  if (copied) {
    context_.report(
        FindingKind::kPendingCopy, actor.thread, op.index,
        fmt::format("{} {}, which a copy writes that this thread has not waited for", accessVerb(kind), describe(space, address)),
        {other}, cell.op);
  } else {
    context_.report(FindingKind::kRace, actor.thread, op.index,
                    fmt::format("{} {}, and nothing orders it after the write of", accessVerb(kind), describe(space, address)),
                    {other}, cell.op);
  }
}

void BlockMemory::checkAfterReads(const Actor& actor, const Cell& cell, const Op& op, Space space, uint64_t address) {
  if (cell.readers == 0) return;
  auto race = [&](FindingPlace other, uint32_t conflict) {
    context_.report(FindingKind::kRace, actor.thread, op.index,
                    fmt::format("overwrites {}, and nothing orders it after the read of", describe(space, address)),
                    {std::move(other)}, conflict);
  };
  if (cell.read_block != context_.index) {
    if (context_.clocks.knows(actor.thread, cell.read_block)) return;
    FindingPlace other;
    other.block = cell.read_block;
    return race(other, 0);
  }
  for (const Reader& reader : context_.readers.at(cell.readers)) {
    if (context_.clocks.ordered(actor.thread, reader.component, reader.epoch)) continue;
    race(context_.place(context_.isThread(reader.component) ? reader.component : FindingPlace::kCopy, reader.op), reader.op);
  }
}

void BlockMemory::arrived(Space space, uint64_t address, uint32_t bytes, int component, uint32_t epoch) {
  auto clear = [&](Cell* cells, uint64_t count, uint64_t) {
    for (uint64_t i = 0; i < count; i++) {
      if (cells[i].writer == component && cells[i].epoch == epoch) cells[i].flags &= static_cast<uint8_t>(~kPending);
    }
  };
  if (space == kShared) {
    shared_shadow_.forCells(address - kSharedBase, bytes, clear);
  } else if (GlobalMemory::Range* range = global_.find(address); range && range->tracked) {
    std::lock_guard lock(global_.mutex);
    range->shadow.forCells(address - range->base, bytes, clear);
  }
}

void BlockMemory::markBarrier(int thread, uint64_t address, bool live, const Op& op) {
  const Actor actor = threadActor(thread);
  shared_shadow_.forCells(address - kSharedBase, 8, [&](Cell* cells, uint64_t count, uint64_t unit) {
    for (uint64_t i = 0; i < count; i++) cells[i].flags &= static_cast<uint8_t>(~kBarrierCell);
    note(actor, cells, count, unit, Access::kWrite, op, kShared, address, true);
    for (uint64_t i = 0; i < count; i++) {
      if (live)
        cells[i].flags |= kBarrierCell;
      else
        cells[i].flags &= static_cast<uint8_t>(~kWritten);
    }
  });
}

void BlockMemory::checkBarrierVisible(int thread, uint64_t address, const Op& op) {
  if (!context_.options.races) return;
  shared_shadow_.forCells(address - kSharedBase, 1, [&](Cell* cells, uint64_t, uint64_t) {
    if (cells->epoch && !context_.clocks.ordered(thread, cells->writer, cells->epoch)) {
      context_.report(
          FindingKind::kRace, thread, op.index,
          fmt::format("uses the mbarrier at {}, and nothing orders it after its initialisation by", describe(kShared, address)),
          {context_.place(cells->writer, cells->op)}, cells->op);
    }
  });
}

}  // namespace nereid::emulator
