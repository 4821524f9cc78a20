// Retaining, releasing and entering contexts.
#include "runtime/driver/context.h"

#include <fmt/format.h>

namespace nereid::cuda {

Result<std::shared_ptr<const Context>> Context::primary(std::shared_ptr<const Driver> driver, int ordinal) {
  NEREID_TRY(DeviceInfo info, driver->device(ordinal));
  const std::string where = fmt::format("device {}, {}", ordinal, info.name);
  std::shared_ptr<Context> context(new Context);
  NEREID_CHECK_OK(driver->check(driver->api().device_get(&context->id_, ordinal), "cuDeviceGet", where));
  NEREID_CHECK_OK(
      driver->check(driver->api().primary_retain(&context->handle_, context->id_), "cuDevicePrimaryCtxRetain", where));
  context->driver_ = std::move(driver);
  context->device_ = std::move(info);
  return std::shared_ptr<const Context>(std::move(context));
}

Context::~Context() {
  if (driver_) driver_->api().primary_release(id_);
}

Status Context::synchronize() const {
  NEREID_TRY(CurrentContext current, CurrentContext::enter(*this));
  return driver_->check(driver_->api().context_sync(), "cuCtxSynchronize", device_.name);
}

Result<CurrentContext> CurrentContext::enter(const Context& context) {
  const Driver& driver = context.driver();
  NEREID_CHECK_OK(driver.check(driver.api().context_push(context.handle()), "cuCtxPushCurrent_v2", context.device().name));
  return CurrentContext(&driver);
}

CurrentContext::~CurrentContext() {
  ContextHandle popped = nullptr;
  if (driver_) driver_->api().context_pop(&popped);
}

}  // namespace nereid::cuda
