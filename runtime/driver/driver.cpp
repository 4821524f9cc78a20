// Initialisation and the properties of devices.
#include "runtime/driver/driver.h"

#include <fmt/format.h>

namespace nereid::cuda {

Result<std::shared_ptr<const Driver>> Driver::open(const std::string& library) {
  NEREID_TRY(const Api api, loadApi(library));
  return over(api);
}

Result<std::shared_ptr<const Driver>> Driver::over(const Api& api) {
  std::shared_ptr<Driver> driver(new Driver);
  driver->api_ = api;
  NEREID_CHECK_OK(driver->check(api.init(0), "cuInit"));
  NEREID_CHECK_OK(driver->check(api.driver_version(&driver->version_), "cuDriverGetVersion"));
  NEREID_CHECK_OK(driver->check(api.device_count(&driver->device_count_), "cuDeviceGetCount"));
  if (driver->device_count_ < 1) return driverDiag(api, Error::kNoDevice, "cuDeviceGetCount", "no device");
  return std::shared_ptr<const Driver>(std::move(driver));
}

std::string Driver::versionText() const { return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10); }

Status Driver::check(Error error, const char* call, std::string_view where) const {
  if (error == Error::kSuccess) return {};
  return driverDiag(api_, error, call, std::string(where));
}

Result<DeviceInfo> Driver::device(int ordinal) const {
  if (ordinal < 0 || ordinal >= device_count_)
    return Diag{Code::kUsage, fmt::format("there is no CUDA device {}", ordinal), fmt::format("cuda:{}", ordinal),
                fmt::format("devices are 0 to {}; nereid doctor lists them", device_count_ - 1)};
  DeviceInfo info;
  info.ordinal = ordinal;
  const std::string where = fmt::format("device {}", ordinal);
  Device device = 0;
  NEREID_CHECK_OK(check(api_.device_get(&device, ordinal), "cuDeviceGet", where));
  char name[256] = {};
  NEREID_CHECK_OK(check(api_.device_name(name, sizeof name - 1, device), "cuDeviceGetName", where));
  info.name = name;
  size_t memory = 0;
  NEREID_CHECK_OK(check(api_.device_memory(&memory, device), "cuDeviceTotalMem_v2", where));
  info.memory_bytes = int64_t(memory);
  int major = 0, minor = 0, grid = 0, threads_per_sm = 0;
  const std::pair<DeviceAttribute, int*> wanted[] = {
      {DeviceAttribute::kComputeCapabilityMajor, &major},
      {DeviceAttribute::kComputeCapabilityMinor, &minor},
      {DeviceAttribute::kMultiprocessorCount, &info.sm_count},
      {DeviceAttribute::kMaxSharedPerBlockOptin, &info.shared_per_block},
      {DeviceAttribute::kMaxSharedPerMultiprocessor, &info.shared_per_sm},
      {DeviceAttribute::kMaxRegistersPerMultiprocessor, &info.registers_per_sm},
      {DeviceAttribute::kMaxThreadsPerBlock, &info.max_threads_per_block},
      {DeviceAttribute::kMaxThreadsPerMultiprocessor, &threads_per_sm},
      {DeviceAttribute::kMaxGridDimX, &grid},
  };
  for (const auto& [attribute, value] : wanted)
    NEREID_CHECK_OK(check(api_.device_attribute(value, attribute, device), "cuDeviceGetAttribute", where));
  info.capability = major * 10 + minor;
  info.warps_per_sm = threads_per_sm / 32;
  info.max_grid_x = grid;
  info.target = targetForCapability(info.capability);
  return info;
}

Result<std::vector<DeviceInfo>> Driver::devices() const {
  std::vector<DeviceInfo> all;
  for (int i = 0; i < device_count_; ++i) {
    NEREID_TRY(DeviceInfo info, device(i));
    all.push_back(std::move(info));
  }
  return all;
}

std::string targetForCapability(int capability) {
  const Target* best = nullptr;
  for (const Target& t : allTargets()) {
    // Code with a suffix runs on its own chip only; other code on later minor versions of its major version too.
    const bool runs = t.isGpu() && (t.suffix ? t.sm == capability : t.sm / 10 == capability / 10 && t.sm <= capability);
    if (runs && (!best || t.sm > best->sm)) best = &t;
  }
  return best ? best->name : "";
}

}  // namespace nereid::cuda
