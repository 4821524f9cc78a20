// Driver errors as advice, in one table.
#include <fmt/format.h>

#include "runtime/driver/driver.h"

namespace nereid::cuda {
namespace {

struct Advice {
  Error error;
  Code code;
  const char* fix;
};

constexpr const char* kSticky =
    "the context is lost: every later call in it fails too; run the case with --device emu, which checks each access, or under "
    "compute-sanitizer";

constexpr Advice kAdvice[] = {
    {Error::kInvalidValue, Code::kInternal, "an argument of the call is out of its range"},
    {Error::kOutOfMemory, Code::kEnvironment, "free device memory or use a smaller case; nvidia-smi shows who uses it"},
    {Error::kNotInitialized, Code::kEnvironment,
     "the driver is not usable in a child after fork; start the child with exec, or fork before the first use"},
    {Error::kDeinitialized, Code::kEnvironment, "the process is ending; stop work before exit"},
    {Error::kStubLibrary, Code::kEnvironment,
     "a stub of libcuda.so.1 was found instead of the driver; take the toolkit's stubs folder out of the library path"},
    {Error::kNoDevice, Code::kEnvironment,
     "no CUDA device is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use the cpu target"},
    {Error::kInvalidDevice, Code::kUsage, "nereid doctor lists the devices"},
    {Error::kInvalidImage, Code::kInput, "the code object is broken; compile it again"},
    {Error::kInvalidContext, Code::kUsage, "make a context of this device current, or let the call retain the primary one"},
    {Error::kNoBinaryForGpu, Code::kUnsupported,
     "the code is for another chip; compile for the target that nereid doctor names for this device"},
    {Error::kInvalidPtx, Code::kInternal, "the PTX is wrong; look at it with nereid compile --emit ptx"},
    {Error::kJitCompilerNotFound, Code::kEnvironment,
     "libnvidia-ptxjitcompiler is missing; install it with the driver, or load cubins"},
    {Error::kUnsupportedPtxVersion, Code::kEnvironment,
     "the code needs a newer driver; update it (nereid doctor shows versions)"},
    {Error::kOperatingSystem, Code::kEnvironment,
     "the system refused the call; check permissions of /dev/nvidia* and memory limits"},
    {Error::kNotFound, Code::kInternal, "the name is not in the code object"},
    {Error::kIllegalAddress, Code::kInternal, kSticky},
    {Error::kMisalignedAddress, Code::kInternal, kSticky},
    {Error::kIllegalInstruction, Code::kInternal, kSticky},
    {Error::kLaunchFailed, Code::kInternal, kSticky},
    {Error::kLaunchOutOfResources, Code::kUnsupported,
     "the schedule needs more registers or shared memory than a block may have; take fewer warps, smaller tiles or fewer stages"},
    {Error::kLaunchTimeout, Code::kEnvironment,
     "the display's watchdog ended the kernel; use a device without a display or a smaller case"},
    {Error::kContextIsDestroyed, Code::kUsage, "the context was destroyed by its owner; load the kernel again in a live one"},
    {Error::kSystemNotReady, Code::kEnvironment, "the fabric manager is not running; start nvidia-fabricmanager"},
    {Error::kSystemDriverMismatch, Code::kEnvironment,
     "kernel module and libcuda.so.1 have different versions; reboot or reinstall the driver"},
    {Error::kCompatNotSupportedOnDevice, Code::kEnvironment,
     "the compatibility libcuda.so.1 does not serve this device; update the driver"},
    {Error::kStreamCaptureUnsupported, Code::kUsage,
     "the call is not permitted while a stream is captured; prepare kernels and workspace before the capture"},
    {Error::kStreamCaptureInvalidated, Code::kUsage,
     "an earlier call spoilt the capture; end it and prepare kernels and workspace before the next"},
};

}  // namespace

Diag driverDiag(const Api& api, Error error, const char* call, std::string where) {
  const char *name = nullptr, *text = nullptr;
  if (api.error_name) api.error_name(error, &name);
  if (api.error_string) api.error_string(error, &text);
  Diag diag{Code::kEnvironment,
            fmt::format("{} returned {}{}{}", call, name ? name : fmt::to_string(int(error)), text ? ": " : "", text ? text : ""),
            std::move(where), "see CUresult in the CUDA Driver API reference"};
  for (const Advice& a : kAdvice)
    if (a.error == error) {
      diag.code = a.code;
      diag.fix = a.fix;
    }
  return diag;
}

}  // namespace nereid::cuda
