// The table of targets.
#include "runtime/spec/target.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid {
namespace {

constexpr int kKiB = 1024;

std::vector<Target> makeTargets() {
  Target sm120{.name = "sm_120a",
               .sm = 120,
               .suffix = 'a',
               .ptx_version = 87,
               .shared_per_block = 99 * kKiB,
               .shared_per_sm = 100 * kKiB,
               .registers_per_sm = 65536,
               .warps_per_sm = 48,
               .max_threads_per_block = 1024,
               .has_bulk_copy = true,
               .has_setmaxnreg = true,
               .has_fp8 = true,
               .has_block_scale = true};
  Target sm121 = sm120;
  sm121.name = "sm_121a";
  sm121.sm = 121;
  sm121.ptx_version = 88;
  // PTX 8.6: the shared::cta form of cp.async.bulk.
  Target sm90{.name = "sm_90a",
              .sm = 90,
              .suffix = 'a',
              .ptx_version = 86,
              .shared_per_block = 227 * kKiB,
              .shared_per_sm = 228 * kKiB,
              .registers_per_sm = 65536,
              .warps_per_sm = 64,
              .max_threads_per_block = 1024,
              .has_bulk_copy = true,
              .has_setmaxnreg = true,
              .has_fp8 = true,
              .has_block_scale = false};
  Target sm89{.name = "sm_89",
              .sm = 89,
              .suffix = 0,
              .ptx_version = 84,
              .shared_per_block = 99 * kKiB,
              .shared_per_sm = 100 * kKiB,
              .registers_per_sm = 65536,
              .warps_per_sm = 48,
              .max_threads_per_block = 1024,
              .has_bulk_copy = false,
              .has_setmaxnreg = false,
              .has_fp8 = true,
              .has_block_scale = false};
  Target sm80{.name = "sm_80",
              .sm = 80,
              .suffix = 0,
              .ptx_version = 80,
              .shared_per_block = 163 * kKiB,
              .shared_per_sm = 164 * kKiB,
              .registers_per_sm = 65536,
              .warps_per_sm = 64,
              .max_threads_per_block = 1024,
              .has_bulk_copy = false,
              .has_setmaxnreg = false,
              .has_fp8 = false,
              .has_block_scale = false};
  Target cpu;
  cpu.name = "cpu";
  return {sm120, sm121, sm90, sm89, sm80, cpu};
}

}  // namespace

std::string Target::text() const {
  if (!isGpu()) return name;
  return fmt::format("{} ptx={} shared={}/{} registers={} warps={} threads={}", name, ptx_version, shared_per_block,
                     shared_per_sm, registers_per_sm, warps_per_sm, max_threads_per_block);
}

const std::vector<Target>& allTargets() {
  static const std::vector<Target> targets = makeTargets();
  return targets;
}

Result<Target> findTarget(std::string_view name) {
  std::string known;
  for (const Target& t : allTargets()) {
    if (t.name == name) return t;
    known += (known.empty() ? "" : ", ") + t.name;
  }
  return Diag{Code::kUsage, fmt::format("unknown target {}", name), "--target", "targets are " + known};
}

Target withSm120Limits(Target target) {
  const Target sm120 = allTargets().front();
  if (!target.isGpu()) return target;
  target.shared_per_block = std::min(target.shared_per_block, sm120.shared_per_block);
  target.shared_per_sm = std::min(target.shared_per_sm, sm120.shared_per_sm);
  target.warps_per_sm = std::min(target.warps_per_sm, sm120.warps_per_sm);
  return target;
}

}  // namespace nereid
