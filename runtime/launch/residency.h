// `--limits sm_120` on another chip: as many blocks on an SM as SM120 would hold, by asking for more dynamic shared memory than
// needed.
#pragma once
#include "runtime/base/result.h"
#include "runtime/driver/driver.h"
#include "runtime/spec/target.h"

namespace nereid {

// What a block of a kernel takes.
struct BlockNeeds {
  int static_shared = 0, dynamic_shared = 0;  // bytes
  int warps = 1;
};

// Blocks that an SM with these limits holds by shared memory (1 KiB more a block than it asks for) and by warps; 0: a block does
// not fit.
int residentBlocks(const BlockNeeds& block, const Target& limits);

// The dynamic shared memory with which `chip` holds at most residentBlocks(block, limits) of the kernel's blocks on an SM: what
// the kernel asks for where the chip holds no more anyway. An error where a block does not fit into the limits.
Result<int> dynamicSharedForResidency(const BlockNeeds& block, const Target& limits, const cuda::DeviceInfo& chip);

}  // namespace nereid
