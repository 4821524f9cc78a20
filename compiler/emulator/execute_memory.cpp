// Loads, stores, atomics and fences of LLVM IR.
#include <cstring>

#include "compiler/emulator/block.h"
#include "compiler/emulator/float_columns.h"
#include "compiler/emulator/handlers.h"

namespace nereid::emulator {
namespace {

Space spaceOf(uint64_t aux) { return static_cast<Space>(aux >> 32 & 0xFF); }
uint32_t alignOf(uint64_t aux) { return static_cast<uint32_t>(aux); }

struct Component {
  Column column;
  uint32_t offset, bytes;
};
// The i-th component of a load (result) or store (operand).
Component component(const Op& op, Warp& w, int i) {
  const int count = op.results ? op.results : op.operands / 2;
  const Column column = op.results ? w.result(op, i) : w.operand(op, i);
  const uint32_t place = w.program.lists[op.list + static_cast<uint32_t>(count + i)];
  return {column, place >> 8, place & 0xFF};
}

Flow load(const Op& op, Warp& w) {
  const uint64_t* address = w.wide(op.a);
  const Space space = spaceOf(op.aux);
  const uint32_t align = alignOf(op.aux), bytes = static_cast<uint32_t>(op.imm);
  forLanes(w, [&](int lane) {
    const uint8_t* from = w.block.memory().access(w.thread(lane), space, address[lane], bytes, align, Access::kRead, op);
    for (int i = 0; i < op.results; i++) {
      const Component c = component(op, w, i);
      uint64_t value = 0;
      if (from) std::memcpy(&value, from + c.offset, c.bytes);
      if (c.bytes > 4)
        w.wide(c.column)[lane] = value;
      else
        w.narrow(c.column)[lane] = static_cast<uint32_t>(value);
    }
  });
  return w.block.stopped() ? Flow::kStop : Flow::kNext;
}

// Lanes of one store on the same bytes: equal values are harmless and count as one store, others leave it open who wins.
uint32_t storingLanes(const Op& op, Warp& w, const uint64_t* address, uint64_t bytes) {
  bool ascending = true;
  uint64_t last_end = 0;
  forLanes(w, [&](int lane) {
    ascending &= address[lane] >= last_end;
    last_end = address[lane] + bytes;
  });
  if (ascending || (spaceOf(op.aux) == kLocal)) return w.active;
  uint32_t storing = w.active;
  auto same = [&](int a, int b) {
    for (int i = 0; i < op.operands / 2; i++) {
      const Component c = component(op, w, i);
      if (c.bytes > 4 ? w.wide(c.column)[a] != w.wide(c.column)[b] : w.narrow(c.column)[a] != w.narrow(c.column)[b]) return false;
    }
    return true;
  };
  forLanes(w, [&](int a) {
    if (!(storing >> a & 1)) return;
    for (int b = a + 1; b < kLanes; b++) {
      if (!(storing >> b & 1) || address[b] >= address[a] + bytes || address[a] >= address[b] + bytes) continue;
      if (address[a] >> kWindowBits == kLocalWindow) continue;
      if (address[a] == address[b] && same(a, b)) {
        storing &= ~(1u << b);
        continue;
      }
      BlockContext& context = w.block.context();
      if (context.options.races) {
        context.report(FindingKind::kRace, w.thread(b), op.index,
                       "two lanes of one store write different values to the same bytes", {context.place(w.thread(a), op.index)},
                       op.index);
      }
      storing &= ~(1u << b);
    }
  });
  return storing;
}

constexpr size_t kMaxStoreBytes = 64;  // widest vector that LLVM stores at once, and more

Flow store(const Op& op, Warp& w) {
  const uint64_t* address = w.wide(op.a);
  const Space space = spaceOf(op.aux);
  const uint32_t align = alignOf(op.aux), bytes = static_cast<uint32_t>(op.imm);
  const uint32_t storing = storingLanes(op, w, address, bytes);
  forLanes(w, [&](int lane) {
    if (!(storing >> lane & 1)) return;
    uint8_t value[kMaxStoreBytes] = {};
    for (int i = 0; i < op.operands / 2; i++) {
      const Component c = component(op, w, i);
      const uint64_t part = c.bytes > 4 ? w.wide(c.column)[lane] : w.narrow(c.column)[lane];
      std::memcpy(value + c.offset, &part, c.bytes);
    }
    Actor actor = w.block.memory().threadActor(w.thread(lane));
    if (bytes == 1) actor.flag = value;
    if (uint8_t* to = w.block.memory().access(actor, space, address[lane], bytes, align, Access::kWrite, op))
      std::memcpy(to, value, bytes);
  });
  w.block.progressed();
  return w.block.stopped() ? Flow::kStop : Flow::kNext;
}

int64_t extend(uint64_t x, uint32_t bytes) {
  const int shift = 64 - static_cast<int>(bytes) * 8;
  return static_cast<int64_t>(x << shift) >> shift;
}

uint64_t combine(AtomicKind kind, uint64_t old, uint64_t x, uint32_t bytes) {
  switch (kind) {
    case AtomicKind::kAdd: return old + x;
    case AtomicKind::kSub: return old - x;
    case AtomicKind::kAnd: return old & x;
    case AtomicKind::kOr: return old | x;
    case AtomicKind::kXor: return old ^ x;
    case AtomicKind::kExchange: return x;
    case AtomicKind::kSMin: return extend(old, bytes) < extend(x, bytes) ? old : x;
    case AtomicKind::kSMax: return extend(old, bytes) > extend(x, bytes) ? old : x;
    case AtomicKind::kUMin: return old < x ? old : x;
    case AtomicKind::kUMax: return old > x ? old : x;
    case AtomicKind::kIncWrap: return old >= x ? 0 : old + 1;
    case AtomicKind::kDecWrap: return old == 0 || old > x ? x : old - 1;
    case AtomicKind::kFAdd:
      if (bytes == 4) return floatToBits(bitsToFloat(static_cast<uint32_t>(old)) + bitsToFloat(static_cast<uint32_t>(x)));
      return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(x));
    case AtomicKind::kCompareExchange: break;
  }
  return old;
}

// What names the location in the table of releases; shared memory of different blocks has equal addresses.
uint64_t syncKey(Warp& w, Space space, uint64_t address) {
  const bool shared = space == kShared || address >> kWindowBits == kSharedWindow;
  return shared ? uint64_t{1} << 63 | static_cast<uint64_t>(w.block.context().index) << 20 | (address & 0xFFFFF) : address;
}

Flow atomic(const Op& op, Warp& w) {
  const uint64_t* address = w.wide(op.a);
  const auto kind = static_cast<AtomicKind>(op.imm & 0xFF);
  const uint32_t bytes = static_cast<uint32_t>(op.imm >> 16);
  const bool wide = bytes > 4, exchange = kind == AtomicKind::kCompareExchange;
  auto get = [&](Column column, int lane) { return wide ? w.wide(column)[lane] : uint64_t{w.narrow(column)[lane]}; };
  forLanes(w, [&](int lane) {
    const int thread = w.thread(lane);
    uint8_t* at = w.block.memory().access(thread, spaceOf(op.aux), address[lane], bytes, alignOf(op.aux), Access::kAtomic, op);
    if (!at) return;
    uint64_t old = 0;
    {
      std::lock_guard lock(w.block.memory().global().mutex);
      const uint64_t key = syncKey(w, spaceOf(op.aux), address[lane]);
      if (op.imm & kAtomicAcquire) w.block.acquireAt(thread, key);
      if (op.imm & kAtomicRelease) w.block.releaseAt(thread, key);
      w.block.relaxedAtomic(thread, key);
      std::memcpy(&old, at, bytes);
      uint64_t next;
      if (exchange)
        next = old == get(op.b, lane) ? get(op.c, lane) : old;
      else
        next = combine(kind, old, get(op.b, lane), bytes);
      std::memcpy(at, &next, bytes);
    }
    if (op.results) {
      if (wide)
        w.wide(w.result(op, 0))[lane] = old;
      else
        w.narrow(w.result(op, 0))[lane] = static_cast<uint32_t>(old);
    }
    if (op.results > 1) w.narrow(w.result(op, 1))[lane] = old == get(op.b, lane);
  });
  w.block.progressed();
  return w.block.stopped() ? Flow::kStop : Flow::kNext;
}

Flow fence(const Op&, Warp& w) {
  std::lock_guard lock(w.block.memory().global().mutex);
  forLanes(w, [&](int lane) { w.block.fence(w.thread(lane)); });
  return Flow::kNext;
}

Flow copyMemory(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t bytes = static_cast<uint32_t>(w.wide(op.c)[lane]);
    if (!bytes) return;
    const uint8_t* from = w.block.memory().access(w.thread(lane), static_cast<Space>(op.aux >> 32), w.wide(op.b)[lane], bytes, 1,
                                                  Access::kRead, op);
    uint8_t* to = w.block.memory().access(w.thread(lane), static_cast<Space>(op.aux & 0xFF), w.wide(op.a)[lane], bytes, 1,
                                          Access::kWrite, op);
    if (from && to) std::memmove(to, from, bytes);
  });
  return w.block.stopped() ? Flow::kStop : Flow::kNext;
}

Flow setMemory(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t bytes = static_cast<uint32_t>(w.wide(op.c)[lane]);
    if (!bytes) return;
    uint8_t* to = w.block.memory().access(w.thread(lane), static_cast<Space>(op.aux & 0xFF), w.wide(op.a)[lane], bytes, 1,
                                          Access::kWrite, op);
    if (to) std::memset(to, static_cast<int>(w.narrow(op.b)[lane]), bytes);
  });
  return w.block.stopped() ? Flow::kStop : Flow::kNext;
}

}  // namespace

Handler loadHandler() { return load; }
Handler storeHandler() { return store; }
Handler atomicHandler() { return atomic; }
Handler fenceHandler() { return fence; }
Handler memcpyHandler() { return copyMemory; }
Handler memsetHandler() { return setMemory; }

}  // namespace nereid::emulator
