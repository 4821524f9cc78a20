// Contexts: the primary one of a device, and making one current for a scope.
#pragma once
#include <memory>
#include <utility>

#include "runtime/driver/driver.h"

namespace nereid::cuda {

// A reference to a device's primary context, the one that frameworks in the same process use. Releases it at the end.
// Threads may share it; each makes it current for itself with CurrentContext. What is made in it keeps it alive.
class Context {
 public:
  static Result<std::shared_ptr<const Context>> primary(std::shared_ptr<const Driver> driver, int ordinal);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  const Driver& driver() const { return *driver_; }
  const DeviceInfo& device() const { return device_; }
  ContextHandle handle() const { return handle_; }
  // Waits for everything in the context; reports errors of earlier launches.
  Status synchronize() const;

 private:
  Context() = default;
  std::shared_ptr<const Driver> driver_;
  DeviceInfo device_;
  Device id_ = 0;
  ContextHandle handle_ = nullptr;
};

// Makes a context current in this thread for a scope and restores what was current before, so that a host's own choice survives.
class CurrentContext {
 public:
  static Result<CurrentContext> enter(const Context& context);
  CurrentContext(CurrentContext&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
  CurrentContext& operator=(CurrentContext&&) = delete;
  ~CurrentContext();

 private:
  explicit CurrentContext(const Driver* driver) : driver_(driver) {}
  const Driver* driver_ = nullptr;
};

}  // namespace nereid::cuda
