// Padding of dynamic shared memory.
#include "runtime/launch/residency.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid {
namespace {

constexpr int kSharedGranularity = 128;  // bytes, of allocations on compute capability 8.0 and later

}  // namespace

int residentBlocks(const BlockNeeds& block, const Target& limits) {
  const int shared = block.static_shared + block.dynamic_shared;
  if (shared > limits.shared_per_block) return 0;
  return std::min(limits.shared_per_sm / (shared + kSharedReservedPerBlock), limits.warps_per_sm / std::max(1, block.warps));
}

Result<int> dynamicSharedForResidency(const BlockNeeds& block, const Target& limits, const cuda::DeviceInfo& chip) {
  const int blocks = residentBlocks(block, limits);
  if (blocks < 1)
    return Diag{
        Code::kUnsupported,
        fmt::format("a block of {} warps with {} bytes of shared memory does not fit an SM of {} warps with {} bytes a block",
                    block.warps, block.static_shared + block.dynamic_shared, limits.warps_per_sm, limits.shared_per_block),
        "--limits", "take a schedule with fewer stages or smaller tiles"};
  // The least that blocks + 1 of do not fit: each takes more than its share of the SM.
  const int share = chip.shared_per_sm / (blocks + 1) + 1;
  const int needed =
      (share + kSharedGranularity - 1) / kSharedGranularity * kSharedGranularity - kSharedReservedPerBlock - block.static_shared;
  return std::max(block.dynamic_shared, std::min(needed, chip.shared_per_block - block.static_shared));
}

}  // namespace nereid
