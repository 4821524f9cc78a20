// What the compiler hands to the runtime: compiled bytes with the contract of their launch.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/spec/abi.h"
#include "runtime/spec/spec.h"

namespace nereid {

struct Resources {  // as the assembler reports them; -1: unknown
  int registers = -1, spill_bytes = -1, shared_bytes = -1, stack_bytes = -1;
  std::map<std::string, int> instructions;  // class → count, from the PTX
};

// Entry of a CPU kernel: runs the instance `block` with the arguments in `args` (ArgList order).
using CpuEntry = void (*)(const ArgSlot* args, int64_t block);

struct Artifact {
  KernelSpec spec;
  ArgList args;
  std::string symbol;  // name of the entry
  int threads = 0;     // a block
  int dynamic_shared_bytes = 0;
  std::string ptx;  // GPU targets
  std::vector<uint8_t> cubin;
  Resources resources;
  std::shared_ptr<void> host_code;  // cpu target: keeps the code of `cpu_entry` alive
  CpuEntry cpu_entry = nullptr;
  std::map<std::string, double> stages_ms;
  std::map<std::string, std::string> dumps;  // "tile", "gpu", "llvm", … when asked for
};

}  // namespace nereid
