// What the emulator reports: one defect of a kernel, with the place of each thread that takes part.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace nereid::emulator {

// A line of the program that was recorded: the DSL's C++ source, or MLIR text. Empty `file`: unknown.
struct SourceLine {
  std::string file;
  int line = 0, column = 0;
  std::string text() const;  // "gemm.cpp:42"; "?" where unknown
  bool operator==(const SourceLine&) const = default;
};

enum class FindingKind {
  kOutOfBounds,        // an address outside every buffer, or outside the block's shared memory
  kReadOnly,           // a store into a buffer that the caller declared read-only
  kMisaligned,         // an address that is no multiple of what the instruction asks for
  kUninitialised,      // a read of bytes that nobody wrote
  kRace,               // two accesses to one byte that nothing orders
  kMissingProxyFence,  // plain stores and a bulk copy on the same bytes without fence.proxy.async between them
  kPendingCopy,        // a copy that has not arrived where its bytes are needed, or when the block ends
  kDivergence,         // a warp's collective op that not all its lanes reach, or a lane outside its own mask
  kBarrier,            // bar.sync with thread counts that do not fit each other
  kMbarrier,           // phases, counts or transaction bytes of an mbarrier that do not fit each other
  kDeadlock,           // no warp can go on
  kRegisters,          // setmaxnreg against its rules
  kEndless,            // more ops than the limit
};
const char* findingName(FindingKind kind);  // "data race", …

// One side of a finding.
struct FindingPlace {
  static constexpr int kBlock = -1;  // no thread in particular
  static constexpr int kCopy = -2;   // an asynchronous copy
  int64_t block = -1;
  int thread = kBlock;  // in the block, or one of the above
  std::string op;       // "ld.shared.b32", "mma.m16n8k16…"
  SourceLine line;
  std::string text() const;  // "thread 35 (warp 1, lane 3) of block 0 at ld.shared.b32 (gemm.cpp:42)"
};

struct Finding {
  FindingKind kind = FindingKind::kRace;
  FindingPlace place;
  std::string what;                  // one sentence
  std::vector<FindingPlace> others;  // the access it conflicts with; the place of each warp in a deadlock
  int64_t count = 1;                 // times the same two ops met in the same way
  std::string text() const;          // several lines where there are others
};

}  // namespace nereid::emulator
