// The driver library opened at run time, its errors as values, and the devices it knows.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/driver/cuda_api.h"
#include "runtime/spec/target.h"

namespace nereid::cuda {

// Opens the driver library and fills the table. Opened libraries stay open until the process ends: the driver cannot be unloaded
// safely. A library or symbol that is missing is an environment error with its name and what to install. Does not call into the
// driver.
Result<Api> loadApi(const std::string& library = "libcuda.so.1");

// What a failed driver call means, and what to do about it. `call` is the exported symbol, `where` the object (kernel, device,
// bytes).
Diag driverDiag(const Api& api, Error error, const char* call, std::string where);

// What schedules, launches and messages need to know of a device.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int capability = 0;  // 90, 120, 121, …
  int sm_count = 0;
  int shared_per_block = 0;  // most that a block may opt in to, bytes
  int shared_per_sm = 0;
  int warps_per_sm = 0;
  int registers_per_sm = 0;
  int max_threads_per_block = 0;
  int64_t max_grid_x = 0;
  int64_t memory_bytes = 0;
  // The target whose code runs on this chip, as the name of runtime/spec's table, else empty: no code for it.
  std::string target;
};

// A driver that is ready: symbols present, cuInit done. Threads may share it; what is made with it keeps it alive.
class Driver {
 public:
  // Loads the library and initialises it. Environment errors: no driver, too old, no device, after fork, not permitted.
  static Result<std::shared_ptr<const Driver>> open(const std::string& library = "libcuda.so.1");
  // Over a table that is filled already (a fake in tests).
  static Result<std::shared_ptr<const Driver>> over(const Api& api);

  const Api& api() const { return api_; }
  int version() const { return version_; }  // 13000: CUDA 13.0, the newest PTX and cubin version that the driver takes
  std::string versionText() const;          // "13.0"
  int deviceCount() const { return device_count_; }
  Result<DeviceInfo> device(int ordinal) const;
  Result<std::vector<DeviceInfo>> devices() const;
  // Success, or what the error of `call` means.
  Status check(Error error, const char* call, std::string_view where = {}) const;

 private:
  Driver() = default;
  Api api_;
  int version_ = 0, device_count_ = 0;
};

// The target for a compute capability: exact where code is architecture-specific (9.0, 12.0, 12.1), else the newest earlier one
// of the same major version (8.6 runs sm_80). Empty: none.
std::string targetForCapability(int capability);

}  // namespace nereid::cuda
