#include "compiler/emulator/warp.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "compiler/emulator/block.h"

namespace nereid::emulator {
namespace {
constexpr size_t kRegisterAlign = 64;
}

void Warp::Free::operator()(uint8_t* p) const { std::free(p); }

Warp::Warp(Block& block_, const Program& program_, int index_, uint32_t lanes)
    : block(block_), program(program_), index(index_), launched(lanes), alive(lanes) {
  const size_t bytes = (program.register_bytes + kRegisterAlign) / kRegisterAlign * kRegisterAlign;
  registers_.reset(static_cast<uint8_t*>(std::aligned_alloc(kRegisterAlign, bytes)));
  std::memset(registers_.get(), 0, bytes);
  for (const ColumnConstant& c : program.constants) {
    for (int lane = 0; lane < kLanes; lane++) {
      if (c.wide)
        wide(c.column)[lane] = c.value;
      else
        narrow(c.column)[lane] = static_cast<uint32_t>(c.value);
    }
  }
  fragments.push_back({0, lanes});
}

bool Warp::runnable() const {
  for (const Fragment& f : fragments) {
    if (f.wait == Wait::kNone) return true;
  }
  return false;
}

// The runnable fragment with the lowest place; after a spent budget another one, so that a loop that polls cannot starve its
// warp.
bool Warp::choose(bool prefer_other) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(fragments.size()); i++) {
    const Fragment& f = fragments[static_cast<size_t>(i)];
    if (f.wait != Wait::kNone || (prefer_other && i == current_)) continue;
    if (best < 0 || f.pc < fragments[static_cast<size_t>(best)].pc) best = i;
  }
  if (best < 0) return prefer_other && choose(false);
  current_ = best;
  pc = fragments[static_cast<size_t>(best)].pc;
  active = fragments[static_cast<size_t>(best)].lanes;
  return true;
}

void Warp::leave(size_t at) {
  fragments.erase(fragments.begin() + static_cast<int64_t>(at));
  if (current_ > static_cast<int>(at))
    current_--;
  else if (current_ == static_cast<int>(at))
    current_ = -1;
}

void Warp::run(int64_t& budget) {
  if (!choose(preempted_)) return;
  preempted_ = yielded_ = false;
  const Op* ops = program.ops.data();
  while (!block.stopped()) {
    if (yielded_ || budget <= 0) {
      fragments[static_cast<size_t>(current_)].pc = pc;
      preempted_ = fragments.size() > 1;
      return;
    }
    budget--;
    const Op& op = ops[pc];
    switch (op.run(op, *this)) {
      case Flow::kNext: pc++; break;
      case Flow::kJump:
        if (fragments.size() == 1 && current_ == 0) break;
        if (current_ >= 0) {
          fragments[static_cast<size_t>(current_)].pc = pc;
          converge(0);
        }
        if (!choose(false)) return;
        break;
      case Flow::kPark:
        if (!choose(false)) return;
        break;
      case Flow::kStop: return;
    }
  }
}

Flow Warp::branch(uint32_t taken, uint32_t to, uint32_t otherwise) {
  if (taken == active || taken == 0) {
    pc = taken ? to : otherwise;
    return Flow::kJump;
  }
  fragments[static_cast<size_t>(current_)].lanes = taken;
  fragments.push_back({otherwise, active & ~taken});
  active = taken;
  pc = to;
  return Flow::kJump;
}

Flow Warp::exitLanes() {
  alive &= ~active;
  leave(static_cast<size_t>(current_));
  // Ops that need every living lane may be complete now, others can never be.
  for (Fragment& f : fragments) {
    if (f.wait == Wait::kLanes) f.wait = Wait::kNone;
  }
  block.progressed();
  return Flow::kPark;
}

bool Warp::converge(uint32_t needed) {
  for (size_t i = 0; i < fragments.size();) {
    Fragment& f = fragments[i];
    if (static_cast<int>(i) == current_ || f.pc != pc || (f.wait != Wait::kNone && f.wait != Wait::kLanes)) {
      i++;
      continue;
    }
    active |= f.lanes;
    leave(i);
  }
  fragments[static_cast<size_t>(current_)].lanes = active;
  return (active & needed) == needed;
}

Flow Warp::parkForLanes(const Op& op, uint32_t needed) {
  if (needed & ~alive) {
    block.context().reportFatal(
        FindingKind::kDivergence, firstThread(), op.index,
        fmt::format("lanes {:#010x} must take part, but lanes {:#010x} have exited", needed, needed & ~alive));
    return Flow::kStop;
  }
  park(Wait::kLanes, needed);
  bool all_wait = true;
  for (const Fragment& f : fragments) all_wait &= f.wait == Wait::kLanes;
  if (all_wait) {
    std::vector<FindingPlace> others;
    for (const Fragment& f : fragments) {
      if (f.pc != op.index) others.push_back(block.context().place(thread(std::countr_zero(f.lanes)), f.pc));
    }
    block.context().reportFatal(
        FindingKind::kDivergence, thread(std::countr_zero(active)), op.index,
        fmt::format("lanes {:#010x} must take part, but only {:#010x} are here; the others wait elsewhere", needed, active),
        std::move(others));
    return Flow::kStop;
  }
  return Flow::kPark;
}

Flow Warp::park(Wait wait, uint64_t on) {
  Fragment& f = fragments[static_cast<size_t>(current_)];
  f.pc = pc;
  f.lanes = active;
  f.wait = wait;
  f.on = on;
  current_ = -1;
  return Flow::kPark;
}

bool Warp::takeExpired() { return std::exchange(fragments[static_cast<size_t>(current_)].expired, false); }

}  // namespace nereid::emulator
