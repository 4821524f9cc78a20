// Targets and their limits, as data. Source: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace nereid {

struct Target {
  std::string name;          // "sm_120a", …, "cpu"
  int sm = 0;                // 120, 121, 90, 89, 80; 0 for cpu
  char suffix = 0;           // 'a' where the target has architecture-specific instructions
  int ptx_version = 0;       // lowest PTX version that has the instructions we use, 88 = 8.8
  int shared_per_block = 0;  // bytes a block may ask for
  int shared_per_sm = 0;     // bytes of an SM; a block costs 1 KiB more than it asks for
  int registers_per_sm = 0;  // 32-bit
  int warps_per_sm = 0;
  int max_threads_per_block = 0;
  bool has_bulk_copy = false;  // cp.async.bulk and mbarrier.try_wait / expect_tx
  bool has_setmaxnreg = false;
  bool has_fp8 = false;          // cvt.rn.f16x2.e4m3x2, products of e4m3
  bool has_block_scale = false;  // mma.block_scale, ue8m0 conversions
  bool isGpu() const { return sm != 0; }
  // Name and every limit, so that code made for one set of limits is not found by another.
  std::string text() const;
};

inline constexpr int kSharedReservedPerBlock = 1024;

const std::vector<Target>& allTargets();
// Unknown names are a usage error that lists the known ones.
Result<Target> findTarget(std::string_view name);
// `--limits sm_120` on another chip: the same instructions with SM120's shared memory (101,376 B a block, 100 KiB an SM) and 48
// warps.
Target withSm120Limits(Target target);

}  // namespace nereid
