// Padding of shared memory so that a large chip holds as many blocks as SM120.
#include "runtime/launch/residency.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace nereid;

namespace {

const cuda::DeviceInfo kHopper{
    .name = "H", .capability = 90, .shared_per_block = 232448, .shared_per_sm = 233472, .warps_per_sm = 64};

// What the chip does: whole granules, 1 KiB reserved a block.
int blocksOn(const cuda::DeviceInfo& chip, int shared, int warps) {
  return std::min(chip.shared_per_sm / ((shared + 127) / 128 * 128 + kSharedReservedPerBlock), chip.warps_per_sm / warps);
}

}  // namespace

TEST_CASE("every block that SM120 holds is held as often on a larger chip, and asks for no more than it must") {
  const Target sm120 = *findTarget("sm_120a");
  for (int fixed : {0, 512, 4096})
    for (int warps : {1, 2, 4, 6, 12, 16, 24, 32})
      for (int dynamic = 0; dynamic + fixed <= sm120.shared_per_block; dynamic += 997) {
        const BlockNeeds block{fixed, dynamic, warps};
        const int allowed = std::min(102400 / (fixed + dynamic + 1024), 48 / warps);
        CHECK(residentBlocks(block, sm120) == allowed);
        const auto padded = dynamicSharedForResidency(block, sm120, kHopper);
        REQUIRE(padded);
        REQUIRE(*padded >= dynamic);
        REQUIRE(*padded + fixed <= kHopper.shared_per_block);
        REQUIRE(blocksOn(kHopper, *padded + fixed, warps) == allowed);
        // 128 bytes less would let one block more in, unless nothing was added.
        if (*padded > dynamic) REQUIRE(kHopper.shared_per_sm / (*padded + fixed - 128 + kSharedReservedPerBlock) > allowed);
      }
}

TEST_CASE("on SM120 itself nothing is padded") {
  const Target sm120 = *findTarget("sm_120a");
  const cuda::DeviceInfo chip{
      .name = "B", .capability = 120, .shared_per_block = 101376, .shared_per_sm = 102400, .warps_per_sm = 48};
  for (int dynamic : {40 * 1024, 60 * 1024, 101376}) {
    const auto same = dynamicSharedForResidency({0, dynamic, 6}, sm120, chip);
    REQUIRE(same);
    CHECK(blocksOn(chip, *same, 6) == residentBlocks({0, dynamic, 6}, sm120));
  }
}

TEST_CASE("a block beyond the limits is refused with both numbers") {
  const Target sm120 = *findTarget("sm_120a");
  for (const BlockNeeds& block : {BlockNeeds{0, 101377, 4}, BlockNeeds{1024, 100353, 4}, BlockNeeds{0, 0, 49}}) {
    CHECK(residentBlocks(block, sm120) == 0);
    const auto padded = dynamicSharedForResidency(block, sm120, kHopper);
    REQUIRE(!padded);
    CHECK(padded.diag().code == Code::kUnsupported);
    CHECK(padded.diag().what.find("101376") != std::string::npos);
  }
}
