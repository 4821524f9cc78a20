// Loading an artifact into a context.
#include "runtime/module/code_object.h"

#include <fmt/format.h>

#include <array>

namespace nereid {
namespace {

// Machine code runs on its own major version from its minor version on, PTX on every later chip; a suffix ties both to one chip.
bool runsOn(const Target& target, bool machine_code, int capability) {
  if (target.suffix) return target.sm == capability;
  return target.sm <= capability && (!machine_code || target.sm / 10 == capability / 10);
}

Status checkFits(const cuda::DeviceInfo& device, const Artifact& artifact) {
  const Target& target = artifact.spec.target;
  const bool machine_code = !artifact.cubin.empty();
  const std::string where = fmt::format("{} on device {}, {}", artifact.symbol, device.ordinal, device.name);
  if (!target.isGpu() || (!machine_code && artifact.ptx.empty()))
    return Diag{Code::kUsage, fmt::format("the artifact for {} has no code for a GPU", target.name), where,
                "compile it for this device's target"};
  if (!runsOn(target, machine_code, device.capability))
    return Diag{
        Code::kUnsupported,
        fmt::format("code for {} does not run on a chip of compute capability {}.{}", target.name, device.capability / 10,
                    device.capability % 10),
        where,
        device.target.empty() ? "there is no target for this chip; use the cpu target" : "compile for --target " + device.target};
  if (artifact.threads < 1 || artifact.threads > device.max_threads_per_block)
    return Diag{Code::kUnsupported,
                fmt::format("a block of {} threads, the device has at most {}", artifact.threads, device.max_threads_per_block),
                where, "take a schedule with fewer warps"};
  if (artifact.dynamic_shared_bytes > device.shared_per_block)
    return Diag{Code::kUnsupported,
                fmt::format("a block needs {} bytes of shared memory, the device has {}", artifact.dynamic_shared_bytes,
                            device.shared_per_block),
                where, "take a schedule with fewer stages or smaller tiles"};
  return {};
}

}  // namespace

Result<CodeObject> CodeObject::load(std::shared_ptr<const cuda::Context> context, const Artifact& artifact) {
  NEREID_CHECK_OK(checkFits(context->device(), artifact));
  NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(*context));
  const cuda::Driver& driver = context->driver();
  std::array<char, 4096> log{};
  const cuda::JitOption options[] = {cuda::JitOption::kErrorLogBuffer, cuda::JitOption::kErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(uintptr_t{log.size() - 1})};
  const void* image = artifact.cubin.empty() ? static_cast<const void*>(artifact.ptx.c_str()) : artifact.cubin.data();
  CodeObject object;
  const cuda::Error error = driver.api().module_load(&object.module_, image, 2, options, values);
  if (error != cuda::Error::kSuccess) {
    Diag diag = cuda::driverDiag(driver.api(), error, "cuModuleLoadDataEx",
                                 fmt::format("{} for {}", artifact.symbol, artifact.spec.target.name));
    if (log[0]) diag.what += fmt::format(": {}", log.data());
    return diag;
  }
  object.context_ = std::move(context);  // from here on the destructor unloads
  NEREID_CHECK_OK(object.prepare(artifact));
  return object;
}

// The entry and its resources. The context is current.
Status CodeObject::prepare(const Artifact& artifact) {
  const cuda::Driver& driver = context_->driver();
  const cuda::Api& api = driver.api();
  symbol_ = artifact.symbol;
  args_ = artifact.args;
  threads_ = artifact.threads;
  dynamic_shared_ = artifact.dynamic_shared_bytes;
  NEREID_CHECK_OK(driver.check(api.module_function(&function_, module_, symbol_.c_str()), "cuModuleGetFunction", symbol_));
  int max_threads = 0;
  const std::pair<cuda::FunctionAttribute, int*> wanted[] = {{cuda::FunctionAttribute::kSharedBytes, &static_shared_},
                                                             {cuda::FunctionAttribute::kRegisters, &registers_},
                                                             {cuda::FunctionAttribute::kLocalBytes, &local_},
                                                             {cuda::FunctionAttribute::kMaxThreadsPerBlock, &max_threads}};
  for (const auto& [attribute, value] : wanted)
    NEREID_CHECK_OK(driver.check(api.function_get(value, attribute, function_), "cuFuncGetAttribute", symbol_));
  const cuda::DeviceInfo& device = context_->device();
  if (threads_ > max_threads)
    return Diag{Code::kUnsupported,
                fmt::format("a block of {} threads, the kernel's {} registers permit {}", threads_, registers_, max_threads),
                fmt::format("{} on {}", symbol_, device.name), "take a schedule with fewer warps or more blocks per SM"};
  max_dynamic_shared_ = device.shared_per_block - static_shared_;
  if (dynamic_shared_ > max_dynamic_shared_)
    return Diag{Code::kUnsupported,
                fmt::format("a block needs {} + {} bytes of shared memory, the device has {}", dynamic_shared_, static_shared_,
                            device.shared_per_block),
                fmt::format("{} on {}", symbol_, device.name), "take a schedule with fewer stages or smaller tiles"};
  return driver.check(api.function_set(function_, cuda::FunctionAttribute::kMaxDynamicSharedBytes, max_dynamic_shared_),
                      "cuFuncSetAttribute", fmt::format("{}, {} bytes of dynamic shared memory", symbol_, max_dynamic_shared_));
}

Result<int> CodeObject::blocksPerSm(int dynamic_shared) const {
  NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(*context_));
  int blocks = 0;
  NEREID_CHECK_OK(
      context_->driver().check(context_->driver().api().occupancy(&blocks, function_, threads_, size_t(dynamic_shared)),
                               "cuOccupancyMaxActiveBlocksPerMultiprocessor", symbol_));
  return blocks;
}

CodeObject::CodeObject(CodeObject&& other) noexcept { *this = std::move(other); }

CodeObject& CodeObject::operator=(CodeObject&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  std::swap(symbol_, other.symbol_);
  std::swap(args_, other.args_);
  std::swap(threads_, other.threads_);
  std::swap(dynamic_shared_, other.dynamic_shared_);
  std::swap(max_dynamic_shared_, other.max_dynamic_shared_);
  std::swap(static_shared_, other.static_shared_);
  std::swap(registers_, other.registers_);
  std::swap(local_, other.local_);
  return *this;
}

CodeObject::~CodeObject() {
  if (!context_ || !module_) return;
  // Without the context there is nothing left to unload.
  if (auto current = cuda::CurrentContext::enter(*context_)) context_->driver().api().module_unload(module_);
}

}  // namespace nereid
