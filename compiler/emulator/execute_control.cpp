// Control flow, and ops that move values between columns.
#include "compiler/emulator/block.h"
#include "compiler/emulator/handlers.h"

namespace nereid::emulator {
namespace {

template <typename T>
Flow select(const Op& op, Warp& w) {
  T* r = w.column<T>(op.result);
  const uint32_t* condition = w.narrow(op.a);
  const T *b = w.column<T>(op.b), *c = w.column<T>(op.c);
  forLanes(w, [=](int l) { r[l] = condition[l] ? b[l] : c[l]; });
  return Flow::kNext;
}

template <typename T>
Flow copy(const Op& op, Warp& w) {
  T* r = w.column<T>(op.result);
  const T* a = w.column<T>(op.a);
  forLanes(w, [=](int l) { r[l] = a[l]; });
  return Flow::kNext;
}

uint64_t get(Warp& w, Column column, bool wide, int lane) { return wide ? w.wide(column)[lane] : w.narrow(column)[lane]; }
void put(Warp& w, Column column, bool wide, int lane, uint64_t value) {
  if (wide)
    w.wide(column)[lane] = value;
  else
    w.narrow(column)[lane] = static_cast<uint32_t>(value);
}

// The bits of the operands, in order, cut anew.
Flow repack(const Op& op, Warp& w) {
  const uint32_t from = static_cast<uint32_t>(op.aux), to = static_cast<uint32_t>(op.aux >> 32);
  const uint64_t from_mask = from == 64 ? ~uint64_t{0} : (uint64_t{1} << from) - 1;
  const uint64_t to_mask = to == 64 ? ~uint64_t{0} : (uint64_t{1} << to) - 1;
  forLanes(w, [&](int lane) {
    for (int i = 0; i < op.results; i++) {
      uint64_t value = 0;
      if (from <= to) {
        const uint32_t pieces = to / from;
        for (uint32_t k = 0; k < pieces; k++)
          value |= (get(w, w.operand(op, i * static_cast<int>(pieces) + static_cast<int>(k)), from > 32, lane) & from_mask)
                   << (k * from);
      } else {
        const uint32_t pieces = from / to, at = static_cast<uint32_t>(i);
        value = get(w, w.operand(op, static_cast<int>(at / pieces)), from > 32, lane) >> (at % pieces * to) & to_mask;
      }
      put(w, w.result(op, i), to > 32, lane, value);
    }
  });
  return Flow::kNext;
}

template <typename T>
Flow extract(const Op& op, Warp& w) {
  T* r = w.column<T>(op.result);
  forLanes(w, [&](int l) {
    const uint64_t at = get(w, op.a, op.bits > 32, l);
    r[l] = at < op.operands ? w.column<T>(w.operand(op, static_cast<int>(at)))[l] : 0;
  });
  return Flow::kNext;
}

template <typename T>
Flow insert(const Op& op, Warp& w) {
  const T* b = w.column<T>(op.b);
  forLanes(w, [&](int l) {
    const uint64_t at = get(w, op.a, op.bits > 32, l);
    for (int i = 0; i < op.results; i++)
      w.column<T>(w.result(op, i))[l] = static_cast<uint64_t>(i) == at ? b[l] : w.column<T>(w.operand(op, i))[l];
  });
  return Flow::kNext;
}

template <bool kWideIndex>
Flow addScaled(const Op& op, Warp& w) {
  uint64_t* r = w.wide(op.result);
  const uint64_t* a = w.wide(op.a);
  const uint32_t bits = op.bits;
  forLanes(w, [&](int l) {
    int64_t index;
    if constexpr (kWideIndex)
      index = static_cast<int64_t>(w.wide(op.b)[l]);
    else
      index = static_cast<int32_t>(w.narrow(op.b)[l] << (32 - bits)) >> (32 - bits);
    r[l] = a[l] + static_cast<uint64_t>(index) * op.imm + op.aux;
  });
  return Flow::kNext;
}

template <char kOp>
Flow constant(const Op& op, Warp& w) {
  uint64_t* r = w.wide(op.result);
  const uint64_t* a = w.wide(op.a);
  const uint64_t x = op.aux;
  forLanes(w, [=](int l) { r[l] = kOp == '+' ? a[l] + x : kOp == '|' ? a[l] | x : a[l] & x; });
  return Flow::kNext;
}

Flow branch(const Op& op, Warp& w) {
  const uint32_t* condition = w.narrow(op.a);
  uint32_t taken = 0;
  forLanes(w, [&](int l) { taken |= (condition[l] & 1) << l; });
  return w.branch(taken, static_cast<uint32_t>(op.imm), static_cast<uint32_t>(op.aux));
}

Flow jump(const Op& op, Warp& w) {
  w.pc = static_cast<uint32_t>(op.imm);
  return Flow::kJump;
}

template <bool kWide>
Flow switchTo(const Op& op, Warp& w) {
  // All lanes of one target leave together; the first active lane's target is chosen, lanes with others stay at this op.
  auto target = [&](int lane) {
    const uint64_t value = get(w, op.a, kWide, lane);
    for (int i = 0; i + 1 < op.operands; i += 2)
      if (get(w, w.operand(op, i + 1), kWide, lane) == value) return w.operand(op, i);
    return static_cast<Column>(op.imm);
  };
  const uint32_t first = target(std::countr_zero(w.active));
  uint32_t taken = 0;
  forLanes(w, [&](int l) { taken |= (target(l) == first ? 1u : 0u) << l; });
  return w.branch(taken, first, w.pc);
}

Flow exitLanes(const Op&, Warp& w) { return w.exitLanes(); }

Flow unreachable(const Op& op, Warp& w) {
  w.block.context().reportFatal(FindingKind::kOutOfBounds, w.firstThread(), op.index,
                                "reaches code that the compiler was told is never reached");
  return Flow::kStop;
}

Flow moves(const Op& op, Warp& w) {
  // A target may be the source of another move: read all, then write all.
  thread_local std::vector<uint64_t> all;
  all.resize(static_cast<size_t>(op.operands) * kLanes);
  for (int i = 0; i < op.operands; i++) {
    const bool wide = w.operand(op, i) & 1;
    const Column from = w.operand(op, i) & ~1u;
    uint64_t* to = all.data() + static_cast<size_t>(i) * kLanes;
    if (wide)
      forLanes(w, [&, p = w.wide(from)](int l) { to[l] = p[l]; });
    else
      forLanes(w, [&, p = w.narrow(from)](int l) { to[l] = p[l]; });
  }
  for (int i = 0; i < op.results; i++) {
    const bool wide = w.operand(op, i) & 1;
    const uint64_t* from = all.data() + static_cast<size_t>(i) * kLanes;
    if (wide)
      forLanes(w, [&, p = w.wide(w.result(op, i))](int l) { p[l] = from[l]; });
    else
      forLanes(w, [&, p = w.narrow(w.result(op, i))](int l) { p[l] = static_cast<uint32_t>(from[l]); });
  }
  return Flow::kNext;
}

}  // namespace

Handler selectHandler(bool wide) { return wide ? select<uint64_t> : select<uint32_t>; }
Handler copyHandler(bool wide) { return wide ? copy<uint64_t> : copy<uint32_t>; }
Handler repackHandler() { return repack; }
Handler extractHandler(bool wide) { return wide ? extract<uint64_t> : extract<uint32_t>; }
Handler insertHandler(bool wide) { return wide ? insert<uint64_t> : insert<uint32_t>; }
Handler addScaledHandler(bool wide_index) { return wide_index ? addScaled<true> : addScaled<false>; }
Handler addConstantHandler() { return constant<'+'>; }
Handler orConstantHandler() { return constant<'|'>; }
Handler andConstantHandler() { return constant<'&'>; }
Handler branchHandler() { return branch; }
Handler jumpHandler() { return jump; }
Handler switchHandler(bool wide) { return wide ? switchTo<true> : switchTo<false>; }
Handler exitHandler() { return exitLanes; }
Handler unreachableHandler() { return unreachable; }
Handler movesHandler() { return moves; }

}  // namespace nereid::emulator
