// The launch path.
#include "runtime/launch/launch.h"

#include <fmt/format.h>

#include <array>

#include "runtime/base/thread_pool.h"

namespace nereid {
namespace {

Status checkGrid(int64_t grid, const std::string& symbol) {
  if (grid >= 0 && grid <= kMaxGrid) return {};
  return Diag{Code::kUnsupported, fmt::format("{} blocks; a launch has 0 to {}", grid, kMaxGrid), symbol,
              "split the rows over several calls"};
}

}  // namespace

Status launch(const CodeObject& object, std::span<const ArgSlot> slots, const LaunchOptions& options, cuda::StreamHandle stream) {
  NEREID_CHECK_OK(checkGrid(options.grid, object.symbol()));
  const int shared = options.dynamic_shared < 0 ? object.dynamicSharedBytes() : options.dynamic_shared;
  if (shared < object.dynamicSharedBytes() || shared > object.maxDynamicSharedBytes())
    return Diag{Code::kUsage, fmt::format("{} bytes of dynamic shared memory", shared), object.symbol(),
                fmt::format("the kernel takes {} to {}", object.dynamicSharedBytes(), object.maxDynamicSharedBytes())};
  alignas(8) std::array<std::byte, kMaxArgumentBytes> packed;
  NEREID_TRY(size_t bytes, packArguments(object.args(), slots, packed));
  if (options.grid == 0) return {};

  NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(object.context()));
  cuda::LaunchAttribute attribute{};
  attribute.id = cuda::LaunchAttributeId::kProgrammaticStreamSerialization;
  attribute.value.programmatic_serialization = 1;
  const cuda::LaunchConfig config{.grid_x = unsigned(options.grid),
                                  .grid_y = 1,
                                  .grid_z = 1,
                                  .block_x = unsigned(object.threads()),
                                  .block_y = 1,
                                  .block_z = 1,
                                  .shared_bytes = unsigned(shared),
                                  .stream = stream,
                                  .attributes = options.programmatic ? &attribute : nullptr,
                                  .attribute_count = options.programmatic ? 1u : 0u};
  void* extra[] = {cuda::kLaunchBufferPointer, packed.data(), cuda::kLaunchBufferSize, &bytes, cuda::kLaunchEnd};
  const cuda::Driver& driver = object.context().driver();
  const cuda::Error error = driver.api().launch(&config, object.function(), nullptr, extra);
  if (error == cuda::Error::kSuccess) return {};
  return cuda::driverDiag(driver.api(), error, "cuLaunchKernelEx",
                          fmt::format("{}, {} blocks of {} threads, {} bytes of shared memory", object.symbol(), options.grid,
                                      object.threads(), shared));
}

Status launchOnCpu(const Artifact& artifact, std::span<const ArgSlot> slots, int64_t grid, int threads) {
  if (!artifact.cpu_entry)
    return Diag{Code::kUsage, fmt::format("the artifact for {} has no code for the CPU", artifact.spec.target.name),
                artifact.symbol, "compile it for --target cpu"};
  NEREID_CHECK_OK(checkGrid(grid, artifact.symbol));
  NEREID_CHECK_OK(checkArguments(artifact.args, slots));
  parallelFor(grid, threads, [&](int64_t block) { artifact.cpu_entry(slots.data(), block); });
  return {};
}

}  // namespace nereid
