// Our declarations of the driver against those of the CUDA headers that set-up finds: values, struct layouts, parameters.
#include "runtime/driver/cuda_api.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include NEREID_CUDA_HEADER

// Exported for older programs; headers of CUDA 13 declare later versions only.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);

using namespace nereid::cuda;

namespace {

// Parameters that are passed alike: as many, each of the same size, pointers where pointers are.
template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename... A, typename... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameCall<Error (*)(A...), CUresult (*)(B...)>
    : std::bool_constant<(
          (sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> && !std::is_floating_point_v<A>) && ...)> {};

#define NEREID_SAME_CALL(field, symbol, parameters) \
  static_assert(SameCall<decltype(Api::field), decltype(&symbol)>::value, #symbol);
NEREID_CUDA_SYMBOLS(NEREID_SAME_CALL)
#undef NEREID_SAME_CALL

static_assert(!SameCall<Error (*)(int), CUresult (*)(int, int)>::value && !SameCall<Error (*)(int), CUresult (*)(int*)>::value);

}  // namespace

TEST_CASE("results") {
  const std::pair<Error, CUresult> same[] = {{Error::kSuccess, CUDA_SUCCESS},
                                             {Error::kInvalidValue, CUDA_ERROR_INVALID_VALUE},
                                             {Error::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY},
                                             {Error::kNotInitialized, CUDA_ERROR_NOT_INITIALIZED},
                                             {Error::kDeinitialized, CUDA_ERROR_DEINITIALIZED},
                                             {Error::kStubLibrary, CUDA_ERROR_STUB_LIBRARY},
                                             {Error::kNoDevice, CUDA_ERROR_NO_DEVICE},
                                             {Error::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE},
                                             {Error::kInvalidImage, CUDA_ERROR_INVALID_IMAGE},
                                             {Error::kInvalidContext, CUDA_ERROR_INVALID_CONTEXT},
                                             {Error::kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU},
                                             {Error::kInvalidPtx, CUDA_ERROR_INVALID_PTX},
                                             {Error::kJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND},
                                             {Error::kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
                                             {Error::kOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM},
                                             {Error::kNotFound, CUDA_ERROR_NOT_FOUND},
                                             {Error::kNotReady, CUDA_ERROR_NOT_READY},
                                             {Error::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS},
                                             {Error::kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
                                             {Error::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT},
                                             {Error::kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED},
                                             {Error::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION},
                                             {Error::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS},
                                             {Error::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED},
                                             {Error::kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY},
                                             {Error::kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
                                             {Error::kCompatNotSupportedOnDevice, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE},
                                             {Error::kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
                                             {Error::kStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED}};
  for (const auto& [ours, theirs] : same) CHECK(int(ours) == int(theirs));
}

TEST_CASE("attributes, modes and flags") {
  CHECK(int(DeviceAttribute::kMaxThreadsPerBlock) == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  CHECK(int(DeviceAttribute::kMaxGridDimX) == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  CHECK(int(DeviceAttribute::kMultiprocessorCount) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  CHECK(int(DeviceAttribute::kMaxThreadsPerMultiprocessor) == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  CHECK(int(DeviceAttribute::kComputeCapabilityMajor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  CHECK(int(DeviceAttribute::kComputeCapabilityMinor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  CHECK(int(DeviceAttribute::kMaxSharedPerMultiprocessor) == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  CHECK(int(DeviceAttribute::kMaxRegistersPerMultiprocessor) == CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  CHECK(int(DeviceAttribute::kMaxSharedPerBlockOptin) == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  CHECK(int(FunctionAttribute::kMaxThreadsPerBlock) == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  CHECK(int(FunctionAttribute::kSharedBytes) == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  CHECK(int(FunctionAttribute::kLocalBytes) == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  CHECK(int(FunctionAttribute::kRegisters) == CU_FUNC_ATTRIBUTE_NUM_REGS);
  CHECK(int(FunctionAttribute::kMaxDynamicSharedBytes) == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  CHECK(int(CaptureMode::kThreadLocal) == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CHECK(int(CaptureMode::kRelaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(int(CaptureStatus::kActive) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CHECK(int(CaptureStatus::kInvalidated) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  CHECK(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
  CHECK(int(JitOption::kErrorLogBuffer) == CU_JIT_ERROR_LOG_BUFFER);
  CHECK(int(JitOption::kErrorLogBytes) == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  CHECK(kLaunchBufferPointer == CU_LAUNCH_PARAM_BUFFER_POINTER);
  CHECK(kLaunchBufferSize == CU_LAUNCH_PARAM_BUFFER_SIZE);
  CHECK(kLaunchEnd == CU_LAUNCH_PARAM_END);
}

TEST_CASE("struct layouts") {
  CHECK(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
  CHECK(offsetof(LaunchConfig, grid_x) == offsetof(CUlaunchConfig, gridDimX));
  CHECK(offsetof(LaunchConfig, block_z) == offsetof(CUlaunchConfig, blockDimZ));
  CHECK(offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
  CHECK(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
  CHECK(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
  CHECK(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
  CHECK(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
  CHECK(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
  CHECK(int(LaunchAttributeId::kProgrammaticStreamSerialization) == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
}
