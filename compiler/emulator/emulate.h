// Runs a GPU kernel on the CPU and checks it while it runs. No MLIR or LLVM header is needed here; load_program.h makes a
// Program.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/emulator/finding.h"
#include "runtime/base/result.h"
#include "runtime/spec/abi.h"

namespace nereid::emulator {

struct Program;

// Memory that the kernel may touch. Accesses outside every buffer, also in the gap between two, are findings. The caller owns it.
struct EmulatorBuffer {
  void* data = nullptr;
  size_t bytes = 0;
  bool writable = false;
  std::string name;
  bool initialised = true;  // false: reading a byte that the kernel did not write is a finding
};

struct EmulatorLaunch {
  int64_t blocks = 1;  // ctaid.x
  int threads = 32;    // tid.x
  int dynamic_shared_bytes = 0;
  std::vector<ArgSlot> args;  // pointers point into buffers
};

struct EmulatorOptions {
  // 0: warps take turns, copies arrive as late as they may. Others: random turns; copies as late as they may, at random, or at
  // once.
  uint64_t seed = 0;
  bool races = true;          // data races, waits and proxy fences
  bool uninitialised = true;  // reads of unwritten shared memory and of buffers that start unwritten
  int max_findings = 20;      // different ones; a block stops when they are reached
  int workers = 0;            // host threads; 0: one a core. Blocks are independent, so findings do not depend on it
  uint64_t max_warp_ops = uint64_t{1} << 28;  // of a block; a loop that polls memory for ever ends there
};

struct EmulationReport {
  std::vector<Finding> findings;  // in order of block and time; equal ones are counted
  int64_t blocks = 0;             // that ran
  uint64_t warp_ops = 0;
  double milliseconds = 0;
  bool clean() const { return findings.empty(); }
  std::string text() const;  // a line or more a finding, and a last line of totals
};

// Errors (kUsage): arguments or launch that do not fit the program. Findings are not errors.
Result<EmulationReport> emulate(const Program& program, const EmulatorLaunch& launch, std::vector<EmulatorBuffer> buffers,
                                const EmulatorOptions& options = {});

}  // namespace nereid::emulator
