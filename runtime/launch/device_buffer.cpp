// Allocation, copies, release.
#include "runtime/launch/device_buffer.h"

#include <fmt/format.h>

namespace nereid {

Result<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<const cuda::Context> context, size_t bytes) {
  DeviceBuffer buffer;
  if (bytes > 0) {
    NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(*context));
    const cuda::Driver& driver = context->driver();
    NEREID_CHECK_OK(driver.check(driver.api().memory_alloc(&buffer.address_, bytes), "cuMemAlloc_v2",
                                 fmt::format("{} bytes on {}", bytes, context->device().name)));
  }
  buffer.context_ = std::move(context);
  buffer.bytes_ = bytes;
  return buffer;
}

Status DeviceBuffer::checkRange(size_t at, size_t count, const char* what) const {
  if (at <= bytes_ && count <= bytes_ - at) return {};
  return Diag{Code::kUsage, fmt::format("{} bytes at {} of a buffer of {}", count, at, bytes_), what,
              "keep the range inside the buffer"};
}

Status DeviceBuffer::write(std::span<const uint8_t> from, cuda::StreamHandle stream, size_t at) {
  NEREID_CHECK_OK(checkRange(at, from.size(), "DeviceBuffer::write"));
  if (from.empty()) return {};
  NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().copy_to_device(address_ + at, from.data(), from.size(), stream),
                                  "cuMemcpyHtoDAsync_v2", fmt::format("{} bytes", from.size()));
}

Status DeviceBuffer::read(std::span<uint8_t> to, cuda::StreamHandle stream, size_t at) const {
  NEREID_CHECK_OK(checkRange(at, to.size(), "DeviceBuffer::read"));
  if (to.empty()) return {};
  NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().copy_to_host(to.data(), address_ + at, to.size(), stream),
                                  "cuMemcpyDtoHAsync_v2", fmt::format("{} bytes", to.size()));
}

Status DeviceBuffer::fill(uint8_t value, cuda::StreamHandle stream) {
  if (bytes_ == 0) return {};
  NEREID_TRY(cuda::CurrentContext current, cuda::CurrentContext::enter(*context_));
  return context_->driver().check(context_->driver().api().memory_set(address_, value, bytes_, stream), "cuMemsetD8Async",
                                  fmt::format("{} bytes", bytes_));
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!address_) return;
  if (auto current = cuda::CurrentContext::enter(*context_)) context_->driver().api().memory_free(address_);
}

}  // namespace nereid
