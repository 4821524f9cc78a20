// Asynchronous copies and prefetches. PTX ISA 8.8, "Data Movement and Conversion Instructions: Asynchronous copy".
#include "compiler/emulator/intrinsics.h"
#include "compiler/emulator/lanes.h"

namespace nereid::emulator {
namespace {

// aux: bytes | has a source size << 8. Operands: shared, global, [bytes that are read].
Flow cpAsync(const Op& op, Warp& w) {
  const uint32_t bytes = static_cast<uint32_t>(op.aux & 255);
  forLanes(w, [&](int lane) {
    const uint32_t read = op.aux >> 8 ? word(w, op, 2, lane) : bytes;
    w.block.copies().copy(w.thread(lane), sharedPointer(w, op, 0, lane), pointer(w, op, 1, lane), bytes, read, op);
  });
  return next(w);
}

Flow commitGroup(const Op&, Warp& w) {
  forLanes(w, [&](int lane) { w.block.copies().commit(w.thread(lane)); });
  return Flow::kNext;
}
Flow waitGroup(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.block.copies().wait(w.thread(lane), word(w, op, 0, lane), op); });
  return next(w);
}
Flow waitAll(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.block.copies().waitAll(w.thread(lane), op); });
  return next(w);
}
// aux: whether the arrival counts itself in (without .noinc).
Flow arriveOnMbarrier(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.block.copies().arriveOn(w.thread(lane), sharedPointer(w, op, 0, lane), op.aux, op); });
  return next(w);
}

// Operands: shared, mbarrier, global, bytes, … (cache hint, multicast mask of a cluster of one).
Flow bulkLoad(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    w.block.copies().bulkLoad(w.thread(lane), sharedPointer(w, op, 0, lane), pointer(w, op, 2, lane), word(w, op, 3, lane),
                              sharedPointer(w, op, 1, lane), op);
  });
  return next(w);
}
// Operands: global, shared, bytes, hint, hint flag, [byte mask].
Flow bulkStore(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) {
    const uint32_t mask = op.aux ? word(w, op, 5, lane) : 0xFFFF;
    w.block.copies().bulkStore(w.thread(lane), pointer(w, op, 0, lane), sharedPointer(w, op, 1, lane), word(w, op, 2, lane), mask,
                               op);
  });
  return next(w);
}
Flow bulkCommit(const Op&, Warp& w) {
  forLanes(w, [&](int lane) { w.block.copies().bulkCommit(w.thread(lane)); });
  return Flow::kNext;
}
Flow bulkWait(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.block.copies().bulkWait(w.thread(lane), word(w, op, 0, lane), op.aux, op); });
  return next(w);
}

// Hints: no effect on values, and an address outside every buffer does no harm.
Flow prefetch(const Op&, Warp&) { return Flow::kNext; }

// "16.s" after "cp.async.cg.shared.global.".
bool parseCopy(std::string_view rest, uint64_t& aux) {
  const bool sized = rest.ends_with(".s");
  if (sized) rest.remove_suffix(2);
  if (rest == "4")
    aux = 4;
  else if (rest == "8")
    aux = 8;
  else if (rest == "16")
    aux = 16;
  else
    return false;
  aux |= sized ? 256 : 0;
  return true;
}

constexpr Intrinsic kTable[] = {
    {"cp.async.ca.shared.global.*", cpAsync, 0, parseCopy},
    {"cp.async.cg.shared.global.*", cpAsync, 0, parseCopy},
    {"cp.async.commit.group", commitGroup},
    {"cp.async.wait.group", waitGroup},
    {"cp.async.wait.all", waitAll},
    {"cp.async.mbarrier.arrive", arriveOnMbarrier, 1},
    {"cp.async.mbarrier.arrive.shared", arriveOnMbarrier, 1},
    {"cp.async.mbarrier.arrive.noinc", arriveOnMbarrier, 0},
    {"cp.async.mbarrier.arrive.noinc.shared", arriveOnMbarrier, 0},
    {"cp.async.bulk.global.to.shared.cta", bulkLoad, 0, nullptr, true},
    {"cp.async.bulk.global.to.shared.cluster", bulkLoad, 0, nullptr, true},
    {"cp.async.bulk.shared.cta.to.global", bulkStore, 0, nullptr, true},
    {"cp.async.bulk.shared.cta.to.global.bytemask", bulkStore, 1, nullptr, true},
    {"cp.async.bulk.commit.group", bulkCommit},
    {"cp.async.bulk.wait.group", bulkWait, 0},
    {"cp.async.bulk.wait.group.read", bulkWait, 1},
    {"cp.async.bulk.prefetch.L2", prefetch},
    {"prefetch.L1", prefetch},
    {"prefetch.L2", prefetch},
    {"prefetch.global.L1", prefetch},
    {"prefetch.global.L2", prefetch},
    {"prefetch.global.L2.evict.last", prefetch},
    {"prefetch.global.L2.evict.normal", prefetch},
    {"prefetchu.L1", prefetch},
};

}  // namespace

std::span<const Intrinsic> copyIntrinsics() { return kTable; }

}  // namespace nereid::emulator
