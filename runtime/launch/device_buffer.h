// Device memory with an owner.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/driver/context.h"

namespace nereid {

// Bytes of device memory, freed at the end; keeps its context alive. Moves, does not copy. Zero bytes are a valid, null buffer.
// Copies are enqueued on a stream of the context and need the host memory until they are done (pageable memory: until the call
// returns).
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  static Result<DeviceBuffer> allocate(std::shared_ptr<const cuda::Context> context, size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  cuda::DevicePtr address() const { return address_; }
  void* pointer() const { return reinterpret_cast<void*>(address_); }  // for an ArgSlot; not to be read on the host
  size_t bytes() const { return bytes_; }
  // Host bytes into the buffer from its byte `at` on, and back. Ranges outside the buffer are usage errors.
  Status write(std::span<const uint8_t> from, cuda::StreamHandle stream, size_t at = 0);
  Status read(std::span<uint8_t> to, cuda::StreamHandle stream, size_t at = 0) const;
  Status fill(uint8_t value, cuda::StreamHandle stream);

 private:
  Status checkRange(size_t at, size_t count, const char* what) const;
  std::shared_ptr<const cuda::Context> context_;
  cuda::DevicePtr address_ = 0;
  size_t bytes_ = 0;
};

}  // namespace nereid
