// Special registers, shuffles, votes, reductions over a warp, barriers of warps and blocks, hints. PTX ISA 8.8, sections "Special
// Registers" and "Parallel Synchronization and Communication Instructions".
#include <fmt/format.h>

#include <cmath>

#include "compiler/emulator/intrinsics.h"
#include "compiler/emulator/lanes.h"
#include "compiler/emulator/number_formats.h"

namespace nereid::emulator {
namespace {

enum Register : uint64_t {
  kTid,
  kThreads,
  kBlockId,
  kBlocks,
  kLane,
  kWarpId,
  kWarps,
  kOne,
  kZero,
  kWarpSize,
  kMaskEq,
  kMaskLe,
  kMaskLt,
  kMaskGe,
  kMaskGt,
  kDynamicShared,
  kAllShared,
  kClock,
};

Flow specialRegister(const Op& op, Warp& w) {
  const Column column = w.result(op, 0);
  const EmulatorLaunch& launch = w.block.context().launch;
  if (op.bits > 32) {  // clock64, globaltimer
    forLanes(w, [&](int lane) { w.wide(column)[lane] = w.block.warpOps(); });
    return Flow::kNext;
  }
  uint32_t* r = w.narrow(column);
  const uint32_t shared = w.program.static_shared_bytes + static_cast<uint32_t>(launch.dynamic_shared_bytes);
  forLanes(w, [&](int lane) {
    const uint32_t bit = 1u << lane;
    switch (op.aux) {
      case kTid: r[lane] = static_cast<uint32_t>(w.thread(lane)); break;
      case kThreads: r[lane] = static_cast<uint32_t>(launch.threads); break;
      case kBlockId: r[lane] = static_cast<uint32_t>(w.block.context().index); break;
      case kBlocks: r[lane] = static_cast<uint32_t>(launch.blocks); break;
      case kLane: r[lane] = static_cast<uint32_t>(lane); break;
      case kWarpId: r[lane] = static_cast<uint32_t>(w.index); break;
      case kWarps: r[lane] = static_cast<uint32_t>((launch.threads + kLanes - 1) / kLanes); break;
      case kOne: r[lane] = 1; break;
      case kWarpSize: r[lane] = kLanes; break;
      case kMaskEq: r[lane] = bit; break;
      case kMaskLe: r[lane] = bit | (bit - 1); break;
      case kMaskLt: r[lane] = bit - 1; break;
      case kMaskGe: r[lane] = ~(bit - 1); break;
      case kMaskGt: r[lane] = ~(bit | (bit - 1)); break;
      case kDynamicShared: r[lane] = static_cast<uint32_t>(launch.dynamic_shared_bytes); break;
      case kAllShared: r[lane] = shared; break;
      case kClock: r[lane] = static_cast<uint32_t>(w.block.warpOps()); break;
      default: r[lane] = 0; break;
    }
  });
  return Flow::kNext;
}

enum Shuffle : uint64_t { kUp, kDown, kXor, kIndex };

// Operands: mask, value, b, c. Results: value, and the predicate in the forms that have it.
Flow shuffle(const Op& op, Warp& w) {
  Flow flow;
  if (!maskedLanes(op, w, 0, flow)) return flow;
  uint32_t values[kLanes];
  uint32_t predicates = 0;
  forLanes(w, [&](int lane) {
    const uint32_t b = word(w, op, 2, lane) & 31, c = word(w, op, 3, lane), segment = c >> 8 & 31, clamp = c & 31;
    const uint32_t self = static_cast<uint32_t>(lane), low = self & segment, high = low | (clamp & ~segment);
    uint32_t from = 0;
    bool in_range = false;
    switch (op.aux) {
      case kUp:
        from = self - b;
        in_range = static_cast<int32_t>(from) >= static_cast<int32_t>(high);
        break;
      case kDown:
        from = self + b;
        in_range = from <= high;
        break;
      case kXor:
        from = self ^ b;
        in_range = from <= high;
        break;
      default:
        from = low | (b & ~segment);
        in_range = from <= high;
        break;
    }
    if (!in_range) from = self;
    predicates |= (in_range ? 1u : 0u) << lane;
    if (!(word(w, op, 0, lane) >> from & 1) || !(w.active >> from & 1)) {
      w.block.context().report(FindingKind::kDivergence, w.thread(lane), op.index,
                               fmt::format("reads the register of lane {}, which does not take part", from));
    }
    values[lane] = word(w, op, 1, static_cast<int>(from));
  });
  forLanes(w, [&](int lane) {
    w.narrow(w.result(op, 0))[lane] = values[lane];
    if (op.results > 1) w.narrow(w.result(op, 1))[lane] = predicates >> lane & 1;
  });
  return next(w);
}

enum Vote : uint64_t { kAll, kAny, kUniform, kBallot };

Flow vote(const Op& op, Warp& w) {
  Flow flow;
  if (!maskedLanes(op, w, 0, flow)) return flow;
  uint32_t holds = 0;
  forLanes(w, [&](int lane) { holds |= (word(w, op, 1, lane) & 1) << lane; });
  uint32_t* r = w.narrow(w.result(op, 0));
  forLanes(w, [&](int lane) {
    const uint32_t mask = word(w, op, 0, lane) & w.launched, in = holds & mask;
    switch (op.aux) {
      case kAll: r[lane] = in == mask; break;
      case kAny: r[lane] = in != 0; break;
      case kUniform: r[lane] = in == 0 || in == mask; break;
      default: r[lane] = in; break;
    }
  });
  return Flow::kNext;
}

// match.any: operands mask, value. match.all gives the mask and a predicate.
Flow match(const Op& op, Warp& w) {
  Flow flow;
  if (!maskedLanes(op, w, 0, flow)) return flow;
  const bool wide = op.aux & 1, all = op.aux & 2;
  auto value = [&](int lane) { return wide ? pointer(w, op, 1, lane) : uint64_t{word(w, op, 1, lane)}; };
  forLanes(w, [&](int lane) {
    uint32_t same = 0;
    const uint32_t mask = word(w, op, 0, lane) & w.launched;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const int other = std::countr_zero(rest);
      if (value(other) == value(lane)) same |= 1u << other;
    }
    w.narrow(w.result(op, 0))[lane] = !all ? same : same == mask ? mask : 0;
    if (all) w.narrow(w.result(op, 1))[lane] = same == mask;
  });
  return Flow::kNext;
}

enum Reduction : uint64_t { kSum, kUMin, kUMax, kSMin, kSMax, kAnd, kOr, kXorAll, kFMin, kFMax };
constexpr uint64_t kAbsolute = 16, kNan = 32;

uint32_t reduceTwo(uint64_t kind, uint32_t a, uint32_t b) {
  const auto signedLess = [](uint32_t x, uint32_t y) { return static_cast<int32_t>(x) < static_cast<int32_t>(y); };
  switch (kind & 15) {
    case kSum: return a + b;
    case kUMin: return std::min(a, b);
    case kUMax: return std::max(a, b);
    case kSMin: return signedLess(a, b) ? a : b;
    case kSMax: return signedLess(a, b) ? b : a;
    case kAnd: return a & b;
    case kOr: return a | b;
    case kXorAll: return a ^ b;
    default: break;
  }
  const float x = bitsToFloat(a), y = bitsToFloat(b);
  if (std::isnan(x) || std::isnan(y)) {
    if (kind & kNan) return kCanonicalNan;
    return std::isnan(x) ? b : a;
  }
  return ((kind & 15) == kFMin ? x < y : x > y) ? a : b;
}

// Operands: value, mask.
Flow reduce(const Op& op, Warp& w) {
  Flow flow;
  if (!maskedLanes(op, w, 1, flow)) return flow;
  uint32_t* r = w.narrow(w.result(op, 0));
  uint32_t results[kLanes];
  forLanes(w, [&](int lane) {
    bool first = true;
    uint32_t sum = 0;
    for (uint32_t rest = word(w, op, 1, lane) & w.launched; rest; rest &= rest - 1) {
      uint32_t x = word(w, op, 0, std::countr_zero(rest));
      if (op.aux & kAbsolute) x &= 0x7FFFFFFF;
      sum = first ? x : reduceTwo(op.aux, sum, x);
      first = false;
    }
    results[lane] = sum;
  });
  forLanes(w, [&](int lane) { r[lane] = results[lane]; });
  return Flow::kNext;
}

// Which lane is elected is not specified; the seed chooses, always the same for a mask. Results: its number, and whether it is
// this one.
Flow elect(const Op& op, Warp& w) {
  Flow flow;
  if (!maskedLanes(op, w, 0, flow)) return flow;
  forLanes(w, [&](int lane) {
    uint32_t mask = word(w, op, 0, lane) & w.launched;
    const uint64_t seed = w.block.context().options.seed;
    for (uint64_t skip = seed ? Random(seed * 977 + mask).below(static_cast<uint64_t>(std::popcount(mask))) : 0; skip > 0; skip--)
      mask &= mask - 1;
    const int leader = std::countr_zero(mask);
    w.narrow(w.result(op, 0))[lane] = static_cast<uint32_t>(leader);
    w.narrow(w.result(op, 1))[lane] = lane == leader;
  });
  return Flow::kNext;
}

Flow syncWarp(const Op& op, Warp& w) {
  Flow flow;
  if (!maskedLanes(op, w, 0, flow)) return flow;
  uint32_t done = 0;
  forLanes(w, [&](int lane) {
    if (done >> lane & 1) return;
    const uint32_t mask = word(w, op, 0, lane) & w.launched;
    w.block.syncLanes(w, mask);
    done |= mask;
  });
  return Flow::kNext;
}

Flow activeMask(const Op& op, Warp& w) {
  forLanes(w, [&](int lane) { w.narrow(w.result(op, 0))[lane] = w.active; });
  return Flow::kNext;
}

// Op::aux of barriers: a Votes value, and in the upper half
enum BarrierForm : uint64_t { kCount = 4, kAligned = 8, kArriveOnly = 16, kReduces = 32 };

// Operands: id, [threads], [predicate].
Flow barrier(const Op& op, Warp& w) {
  const uint64_t form = op.aux >> 32;
  if (form & kAligned) {
    if (!w.converge(w.alive)) return w.parkForLanes(op, w.alive);
  }
  const int lane = std::countr_zero(w.active);
  const uint32_t id = word(w, op, 0, lane), threads = form & kCount ? word(w, op, 1, lane) : 0;
  if ((form & kCount) && threads == 0) {
    w.block.context().reportFatal(FindingKind::kBarrier, w.firstThread(), op.index, "a barrier for 0 threads");
    return Flow::kStop;
  }
  uint32_t votes = 0;
  if (form & kReduces) forLanes(w, [&](int l) { votes |= (word(w, op, form & kCount ? 2 : 1, l) & 1) << l; });
  const Block::BarrierResult result = w.block.arriveAtBarrier(w, op, id, threads, form & kAligned, !(form & kArriveOnly), votes);
  if (w.block.stopped()) return Flow::kStop;
  if (form & kArriveOnly) return Flow::kNext;
  if (!result.complete) return Flow::kPark;
  if (op.results) {
    const uint32_t all =
        threads ? threads : (static_cast<uint32_t>(w.block.context().launch.threads) + kLanes - 1) / kLanes * kLanes;
    forLanes(w, [&](int l) { w.narrow(w.result(op, 0))[l] = reduceVotes(op.aux & 0xFF, result.votes, all); });
  }
  return Flow::kNext;
}

Flow setMaxRegisters(const Op& op, Warp& w) {
  Flow flow;
  if (!wholeWarp(op, w, flow)) return flow;
  if (w.block.setRegisters(w, op, static_cast<int>(word(w, op, 0, std::countr_zero(w.active))), op.aux)) return next(w);
  return w.park(Wait::kRegisters, 0);
}

Flow nothing(const Op&, Warp&) { return Flow::kNext; }
Flow exitThread(const Op&, Warp& w) { return w.exitLanes(); }

Flow memoryFence(const Op&, Warp& w) {
  std::lock_guard lock(w.block.memory().global().mutex);
  forLanes(w, [&](int lane) { w.block.fence(w.thread(lane)); });
  return Flow::kNext;
}

Flow proxyFence(const Op&, Warp& w) {
  forLanes(w, [&](int lane) { w.block.clocks().fenceProxy(w.thread(lane)); });
  return Flow::kNext;
}

// "sync.aligned.count", "red.popc.all", "arrive.aligned.count" after "barrier.cta.".
bool parseBarrier(std::string_view rest, uint64_t& aux) {
  auto take = [&](std::string_view part) {
    if (!rest.starts_with(part)) return false;
    rest.remove_prefix(part.size());
    return true;
  };
  uint64_t form = 0, votes = kVotesCount;
  if (take("sync.")) {
  } else if (take("arrive.")) {
    form |= kArriveOnly;
  } else if (take("red.")) {
    form |= kReduces;
    if (take("and."))
      votes = kVotesAnd;
    else if (take("or."))
      votes = kVotesOr;
    else if (!take("popc."))
      return false;
  } else {
    return false;
  }
  if (take("aligned.")) form |= kAligned;
  if (take("count"))
    form |= kCount;
  else if (!take("all"))
    return false;
  aux = votes | form << 32;
  return rest.empty();
}

constexpr Intrinsic kTable[] = {
    {"read.ptx.sreg.tid.x", specialRegister, kTid},
    {"read.ptx.sreg.tid.y", specialRegister, kZero},
    {"read.ptx.sreg.tid.z", specialRegister, kZero},
    {"read.ptx.sreg.ntid.x", specialRegister, kThreads},
    {"read.ptx.sreg.ntid.y", specialRegister, kOne},
    {"read.ptx.sreg.ntid.z", specialRegister, kOne},
    {"read.ptx.sreg.ctaid.x", specialRegister, kBlockId},
    {"read.ptx.sreg.ctaid.y", specialRegister, kZero},
    {"read.ptx.sreg.ctaid.z", specialRegister, kZero},
    {"read.ptx.sreg.nctaid.x", specialRegister, kBlocks},
    {"read.ptx.sreg.nctaid.y", specialRegister, kOne},
    {"read.ptx.sreg.nctaid.z", specialRegister, kOne},
    {"read.ptx.sreg.laneid", specialRegister, kLane},
    {"read.ptx.sreg.warpid", specialRegister, kWarpId},
    {"read.ptx.sreg.nwarpid", specialRegister, kWarps},
    {"read.ptx.sreg.warpsize", specialRegister, kWarpSize},
    {"read.ptx.sreg.smid", specialRegister, kZero},
    {"read.ptx.sreg.lanemask.eq", specialRegister, kMaskEq},
    {"read.ptx.sreg.lanemask.le", specialRegister, kMaskLe},
    {"read.ptx.sreg.lanemask.lt", specialRegister, kMaskLt},
    {"read.ptx.sreg.lanemask.ge", specialRegister, kMaskGe},
    {"read.ptx.sreg.lanemask.gt", specialRegister, kMaskGt},
    {"read.ptx.sreg.dynamic_smem_size", specialRegister, kDynamicShared},
    {"read.ptx.sreg.total_smem_size", specialRegister, kAllShared},
    {"read.ptx.sreg.aggr_smem_size", specialRegister, kAllShared},
    {"read.ptx.sreg.clock", specialRegister, kClock},
    {"read.ptx.sreg.clock64", specialRegister, kClock},
    {"read.ptx.sreg.globaltimer", specialRegister, kClock},
    // A cluster is one block.
    {"read.ptx.sreg.clusterid.x", specialRegister, kBlockId},
    {"read.ptx.sreg.nclusterid.x", specialRegister, kBlocks},
    {"read.ptx.sreg.cluster.ctaid.x", specialRegister, kZero},
    {"read.ptx.sreg.cluster.nctaid.x", specialRegister, kOne},
    {"read.ptx.sreg.cluster.ctarank", specialRegister, kZero},
    {"read.ptx.sreg.cluster.nctarank", specialRegister, kOne},
    {"shfl.sync.up.i32", shuffle, kUp},
    {"shfl.sync.up.f32", shuffle, kUp},
    {"shfl.sync.up.i32p", shuffle, kUp},
    {"shfl.sync.up.f32p", shuffle, kUp},
    {"shfl.sync.down.i32", shuffle, kDown},
    {"shfl.sync.down.f32", shuffle, kDown},
    {"shfl.sync.down.i32p", shuffle, kDown},
    {"shfl.sync.down.f32p", shuffle, kDown},
    {"shfl.sync.bfly.i32", shuffle, kXor},
    {"shfl.sync.bfly.f32", shuffle, kXor},
    {"shfl.sync.bfly.i32p", shuffle, kXor},
    {"shfl.sync.bfly.f32p", shuffle, kXor},
    {"shfl.sync.idx.i32", shuffle, kIndex},
    {"shfl.sync.idx.f32", shuffle, kIndex},
    {"shfl.sync.idx.i32p", shuffle, kIndex},
    {"shfl.sync.idx.f32p", shuffle, kIndex},
    {"vote.all.sync", vote, kAll},
    {"vote.any.sync", vote, kAny},
    {"vote.uni.sync", vote, kUniform},
    {"vote.ballot.sync", vote, kBallot},
    {"match.any.sync.i32", match, 0},
    {"match.any.sync.i64", match, 1},
    {"match.all.sync.i32p", match, 2},
    {"match.all.sync.i64p", match, 3},
    {"redux.sync.add", reduce, kSum},
    {"redux.sync.umin", reduce, kUMin},
    {"redux.sync.umax", reduce, kUMax},
    {"redux.sync.min", reduce, kSMin},
    {"redux.sync.max", reduce, kSMax},
    {"redux.sync.and", reduce, kAnd},
    {"redux.sync.or", reduce, kOr},
    {"redux.sync.xor", reduce, kXorAll},
    {"redux.sync.fmin", reduce, kFMin},
    {"redux.sync.fmax", reduce, kFMax},
    {"redux.sync.fmin.abs", reduce, kFMin | kAbsolute},
    {"redux.sync.fmax.abs", reduce, kFMax | kAbsolute},
    {"redux.sync.fmin.NaN", reduce, kFMin | kNan},
    {"redux.sync.fmax.NaN", reduce, kFMax | kNan},
    {"redux.sync.fmin.abs.NaN", reduce, kFMin | kAbsolute | kNan},
    {"redux.sync.fmax.abs.NaN", reduce, kFMax | kAbsolute | kNan},
    {"elect.sync", elect},
    {"bar.warp.sync", syncWarp},
    {"activemask", activeMask},
    {"barrier.cta.*", barrier, 0, parseBarrier},
    {"setmaxnreg.inc.sync.aligned.u32", setMaxRegisters, 1},
    {"setmaxnreg.dec.sync.aligned.u32", setMaxRegisters, 0},
    {"membar.cta", memoryFence},
    {"membar.gl", memoryFence},
    {"membar.sys", memoryFence},
    {"fence.sc.cluster", memoryFence},
    {"fence.proxy.alias", nothing},
    {"fence.proxy.async", proxyFence},
    {"fence.proxy.async.global", proxyFence},
    {"fence.proxy.async.shared_cta", proxyFence},
    {"fence.proxy.async.shared_cluster", proxyFence},
    // One kernel runs at a time, so that all earlier ones are over.
    {"griddepcontrol.wait", nothing},
    {"griddepcontrol.launch.dependents", nothing},
    {"nanosleep", nothing},
    {"exit", exitThread},
};

}  // namespace

std::span<const Intrinsic> warpIntrinsics() { return kTable; }

}  // namespace nereid::emulator
