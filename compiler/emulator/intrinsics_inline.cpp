// The forms of inline PTX, by their names in compiler/codegen/inline_ptx.h. Operands are columns of the width that the constraint
// says
// ("r" 32 bits, also for shared addresses; "l" 64).
#include <cstring>

#include "compiler/emulator/intrinsics.h"
#include "compiler/emulator/lanes.h"
#include "compiler/emulator/number_formats.h"

namespace nereid::emulator {
namespace {

// Operands: shared address, global address, bytes that are read, policy. aux: bytes.
Flow cpAsyncHint(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    w.block.copies().copy(w.thread(lane), word(w, op, 0, lane), pointer(w, op, 1, lane), static_cast<uint32_t>(op.aux),
                          word(w, op, 2, lane), op);
  });
  return next(w);
}

// A cache policy has no meaning here; its value only has to be the same everywhere.
Flow createPolicy(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.wide(w.result(op, 0))[lane] = op.aux; });
  return Flow::kNext;
}

// Results: words. Operands: address, [policy].
Flow loadWords(const Op& op, Warp& w) {
  const uint32_t bytes = 4u * op.results;
  forLanes(w, [&](int lane) {
    const uint8_t* from =
        w.block.memory().access(w.thread(lane), kGlobal, pointer(w, op, 0, lane), bytes, bytes, Access::kRead, op);
    for (int i = 0; i < op.results; i++) {
      uint32_t value = 0;
      if (from) std::memcpy(&value, from + 4 * i, 4);
      w.narrow(w.result(op, i))[lane] = value;
    }
  });
  return next(w);
}

// Operands: address, words.
Flow storeWords(const Op& op, Warp& w) {
  const uint32_t bytes = 4u * (op.operands - 1u);
  forLanes(w, [&](int lane) {
    uint8_t* to = w.block.memory().access(w.thread(lane), kGlobal, pointer(w, op, 0, lane), bytes, bytes, Access::kWrite, op);
    for (int i = 1; to && i < op.operands; i++) std::memcpy(to + 4 * (i - 1), &w.narrow(w.operand(op, i))[lane], 4);
  });
  w.block.progressed();
  return next(w);
}

Flow addFour(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    uint8_t* at = w.block.memory().access(w.thread(lane), kGlobal, pointer(w, op, 0, lane), 16, 16, Access::kAtomic, op);
    if (!at) return;
    std::lock_guard lock(w.block.memory().global().mutex);
    for (int i = 0; i < 4; i++) {
      float sum;
      std::memcpy(&sum, at + 4 * i, 4);
      sum += bitsToFloat(word(w, op, 1 + i, lane));
      std::memcpy(at + 4 * i, &sum, 4);
    }
  });
  w.block.progressed();
  return next(w);
}

Flow lop3(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t a = word(w, op, 0, lane), b = word(w, op, 1, lane), c = word(w, op, 2, lane), table = word(w, op, 3, lane);
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; i++) {
      if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    w.narrow(w.result(op, 0))[lane] = result;
  });
  return Flow::kNext;
}

// A loop around try_wait: returns when the phase is over. Operands: barrier, parity, time limit. aux: generic address.
Flow waitUntilDone(const Op& op, Warp& w) {
  w.takeExpired();
  uint64_t waiting_for = 0;
  bool all = true;
  forLanes(w, [&](int lane) {
    const uint64_t address = op.aux ? sharedPointer(w, op, 0, lane) : word(w, op, 0, lane);
    if (w.block.mbarriers().testParity(w.thread(lane), address, word(w, op, 1, lane), true, op)) return;
    all = false;
    waiting_for = address;
  });
  if (w.block.stopped()) return Flow::kStop;
  return all ? Flow::kNext : w.park(Wait::kMbarrier, waiting_for);
}

// Operands: [id], threads. aux: has an id.
Flow barArrive(const Op& op, Warp& w) {
  if (!w.converge(w.alive)) return w.parkForLanes(op, w.alive);
  const int lane = std::countr_zero(w.active);
  const uint32_t id = op.aux ? word(w, op, 0, lane) : 0, threads = word(w, op, op.aux ? 1 : 0, lane);
  w.block.arriveAtBarrier(w, op, id, threads, true, false);
  return next(w);
}

// Operands: barrier, count or bytes, predicate.
Flow predicatedInit(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    if (word(w, op, 2, lane) & 1) w.block.mbarriers().init(w.thread(lane), word(w, op, 0, lane), word(w, op, 1, lane), op);
  });
  return next(w);
}
Flow predicatedExpect(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    if (!(word(w, op, 2, lane) & 1)) return;
    w.block.mbarriers().expect(w.thread(lane), word(w, op, 0, lane), word(w, op, 1, lane), op);
    w.block.mbarriers().arrive(w.thread(lane), word(w, op, 0, lane), 1, true, op);
  });
  return next(w);
}

constexpr Intrinsic kForms[] = {
    {"cp.async.cg.16.hint", cpAsyncHint, 16},
    {"cp.async.ca.8.hint", cpAsyncHint, 8},
    {"cp.async.ca.4.hint", cpAsyncHint, 4},
    {"createpolicy.evict_first", createPolicy, 1},
    {"createpolicy.evict_last", createPolicy, 2},
    {"ld.global.nc.no_allocate.v4", loadWords},
    {"ld.global.nc.no_allocate.v4.hint", loadWords},
    {"ld.global.nc.no_allocate.v2", loadWords},
    {"ld.global.nc.no_allocate", loadWords},
    {"st.global.cs.v4", storeWords},
    {"st.global.cs.v2", storeWords},
    {"st.global.cg.v4", storeWords},
    {"st.global.no_allocate.v4", storeWords},
    {"red.add.v4.f32", addFour},
    {"lop3", lop3},
    {"nvvm.try_wait.parity.shared", waitUntilDone, 0},
    {"nvvm.try_wait.parity", waitUntilDone, 1},
    {"nvvm.bar.arrive", barArrive, 1},
    {"nvvm.bar.arrive.0", barArrive, 0},
    {"nvvm.mbarrier.init.predicated", predicatedInit},
    {"nvvm.expect_tx.predicated", predicatedExpect},
};

}  // namespace

const Intrinsic* findInlineForm(std::string_view form) {
  for (const Intrinsic& row : kForms) {
    if (row.name == form) return &row;
  }
  return nullptr;
}

}  // namespace nereid::emulator
