// What the parts of one running block share: clocks, findings, the seed's choices.
#pragma once
#include <functional>
#include <map>
#include <tuple>

#include "compiler/emulator/clocks.h"
#include "compiler/emulator/emulate.h"
#include "compiler/emulator/program.h"
#include "compiler/emulator/shadow.h"

namespace nereid::emulator {

// SplitMix64; each block has its own stream, so that its turns do not depend on other blocks.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return next() % bound; }

 private:
  uint64_t state_;
};

// When a copy that nobody forces arrives.
enum class Arrival { kLate, kRandom, kAtOnce };

struct BlockContext {
  BlockContext(const Program& program_, const EmulatorLaunch& launch_, const EmulatorOptions& options_, int64_t index_);

  const Program& program;
  const EmulatorLaunch& launch;
  const EmulatorOptions& options;
  const int64_t index;
  Clocks clocks;
  ReadSets readers;
  Random random;
  Arrival arrival;
  std::vector<Finding> findings;
  bool stopped = false;
  uint64_t progress = 0;  // counts what may let a waiting warp go on
  std::function<void(uint64_t address)> wakeMbarrier;

  FindingPlace place(int thread, uint32_t op) const;
  // `thread`: or one of FindingPlace. `conflict`: the op on the other side, part of what makes findings equal.
  void report(FindingKind kind, int thread, uint32_t op, std::string what, std::vector<FindingPlace> others = {},
              uint32_t conflict = 0);
  // report, and the block ends.
  void reportFatal(FindingKind kind, int thread, uint32_t op, std::string what, std::vector<FindingPlace> others = {});
  bool isThread(int component) const { return component < clocks.threads(); }

 private:
  std::map<std::tuple<FindingKind, uint32_t, uint32_t>, size_t> seen_;
};

}  // namespace nereid::emulator
