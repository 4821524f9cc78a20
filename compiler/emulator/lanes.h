// What the handlers of intrinsics share.
#pragma once
#include "compiler/emulator/block.h"

namespace nereid::emulator {

// Operands of intrinsics: 32-bit ones from either width.
inline uint32_t word(Warp& w, const Op& op, int operand, int lane) { return w.narrow(w.operand(op, operand))[lane]; }
inline uint64_t pointer(Warp& w, const Op& op, int operand, int lane) { return w.wide(w.operand(op, operand))[lane]; }
// The shared address in an operand of address space 3, 7 or 0.
inline uint64_t sharedPointer(Warp& w, const Op& op, int operand, int lane) {
  const uint64_t address = pointer(w, op, operand, lane);
  return address >> kWindowBits == kSharedWindow ? address & ((uint64_t{1} << kWindowBits) - 1) : address;
}

inline Flow next(Warp& w) { return w.block.stopped() ? Flow::kStop : Flow::kNext; }

// For .aligned ops, which the whole warp executes: true when it is here. Else `flow` is what the handler returns.
inline bool wholeWarp(const Op& op, Warp& w, Flow& flow) {
  if (w.converge(w.launched)) return true;
  flow = w.parkForLanes(op, w.launched);
  return false;
}

// For .sync ops with a member mask in operand `mask`: true when the lanes of every mask are here.
inline bool maskedLanes(const Op& op, Warp& w, int mask, Flow& flow) {
  w.converge(0);
  uint32_t needed = 0;
  bool member = true;
  forLanes(w, [&](int lane) {
    const uint32_t m = word(w, op, mask, lane) & w.launched;
    needed |= m;
    member &= (m >> lane & 1) != 0;
  });
  if (!member) {
    w.block.context().reportFatal(FindingKind::kDivergence, w.firstThread(), op.index,
                                  "a lane executes it that is not in its own member mask");
    flow = Flow::kStop;
    return false;
  }
  if ((needed & ~w.active) == 0) return true;
  flow = w.parkForLanes(op, needed);
  return false;
}

}  // namespace nereid::emulator
