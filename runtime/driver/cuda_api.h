// The CUDA driver as a table of function pointers, with our own declarations of its types: no CUDA header is needed to build or
// to use this. Values and signatures: CUDA Driver API reference, 12.0 and later; structs are those of its 64-bit ABI.
#pragma once
#include <cstddef>
#include <cstdint>

namespace nereid::cuda {

using Device = int;
using DevicePtr = uint64_t;
using ContextHandle = struct ContextOpaque*;
using ModuleHandle = struct ModuleOpaque*;
using FunctionHandle = struct FunctionOpaque*;
using StreamHandle = struct StreamOpaque*;
using EventHandle = struct EventOpaque*;
using GraphHandle = struct GraphOpaque*;
using GraphExecHandle = struct GraphExecOpaque*;

// CUresult: the values that get their own advice or are tested for. An enum of this width can hold every other value too.
enum class Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kJitCompilerNotFound = 221,
  kOperatingSystem = 304,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kMisalignedAddress = 716,
  kIllegalInstruction = 715,
  kLaunchFailed = 719,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCompatNotSupportedOnDevice = 804,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
};

enum class DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxGridDimX = 5,
  kMultiprocessorCount = 16,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedPerBlockOptin = 97,
};

enum class FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kSharedBytes = 1,  // static
  kLocalBytes = 3,   // stack and spills, a thread
  kRegisters = 4,
  kMaxDynamicSharedBytes = 8,
};

inline constexpr unsigned kStreamNonBlocking = 1;

// CUjit_option: where the driver writes what its loader or compiler has to say.
enum class JitOption : int { kErrorLogBuffer = 5, kErrorLogBytes = 6 };

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

// CUlaunchAttribute: 4 bytes of id, padding to 8, a value of 64 bytes.
enum class LaunchAttributeId : int { kProgrammaticStreamSerialization = 6 };
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    int programmatic_serialization;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

// Keys of the `extra` list of a launch: the arguments as one packed buffer.
inline void* const kLaunchEnd = nullptr;
inline void* const kLaunchBufferPointer = reinterpret_cast<void*>(uintptr_t{1});
inline void* const kLaunchBufferSize = reinterpret_cast<void*>(uintptr_t{2});

// X(field, exported symbol, parameters): the one list of symbols. The loader, the report of a missing symbol and the fake driver
// of the tests all come from it. Symbols whose meaning changed carry the suffix of the version that is meant.
#define NEREID_CUDA_SYMBOLS(X)                                                                                             \
  X(init, cuInit, (unsigned flags))                                                                                        \
  X(driver_version, cuDriverGetVersion, (int* version))                                                                    \
  X(error_name, cuGetErrorName, (Error error, const char** name))                                                          \
  X(error_string, cuGetErrorString, (Error error, const char** text))                                                      \
  X(device_count, cuDeviceGetCount, (int* count))                                                                          \
  X(device_get, cuDeviceGet, (Device * device, int ordinal))                                                               \
  X(device_name, cuDeviceGetName, (char* name, int bytes, Device device))                                                  \
  X(device_attribute, cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, Device device))                        \
  X(device_memory, cuDeviceTotalMem_v2, (size_t* bytes, Device device))                                                    \
  X(primary_retain, cuDevicePrimaryCtxRetain, (ContextHandle * context, Device device))                                    \
  X(primary_release, cuDevicePrimaryCtxRelease_v2, (Device device))                                                        \
  X(context_create, cuCtxCreate_v2, (ContextHandle * context, unsigned flags, Device device))                              \
  X(context_destroy, cuCtxDestroy_v2, (ContextHandle context))                                                             \
  X(context_push, cuCtxPushCurrent_v2, (ContextHandle context))                                                            \
  X(context_pop, cuCtxPopCurrent_v2, (ContextHandle * context))                                                            \
  X(context_set, cuCtxSetCurrent, (ContextHandle context))                                                                 \
  X(context_sync, cuCtxSynchronize, ())                                                                                    \
  X(module_load, cuModuleLoadDataEx,                                                                                       \
    (ModuleHandle * module, const void* image, unsigned count, const JitOption* options, void** values))                   \
  X(module_unload, cuModuleUnload, (ModuleHandle module))                                                                  \
  X(module_function, cuModuleGetFunction, (FunctionHandle * function, ModuleHandle module, const char* name))              \
  X(function_get, cuFuncGetAttribute, (int* value, FunctionAttribute attribute, FunctionHandle function))                  \
  X(function_set, cuFuncSetAttribute, (FunctionHandle function, FunctionAttribute attribute, int value))                   \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                \
    (int* blocks, FunctionHandle function, int threads, size_t dynamic_shared))                                            \
  X(launch, cuLaunchKernelEx, (const LaunchConfig* config, FunctionHandle function, void** params, void** extra))          \
  X(stream_create, cuStreamCreate, (StreamHandle * stream, unsigned flags))                                                \
  X(stream_destroy, cuStreamDestroy_v2, (StreamHandle stream))                                                             \
  X(stream_sync, cuStreamSynchronize, (StreamHandle stream))                                                               \
  X(stream_capturing, cuStreamIsCapturing, (StreamHandle stream, CaptureStatus * status))                                  \
  X(capture_begin, cuStreamBeginCapture_v2, (StreamHandle stream, CaptureMode mode))                                       \
  X(capture_end, cuStreamEndCapture, (StreamHandle stream, GraphHandle * graph))                                           \
  X(capture_mode, cuThreadExchangeStreamCaptureMode, (CaptureMode * mode))                                                 \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags)) \
  X(graph_launch, cuGraphLaunch, (GraphExecHandle exec, StreamHandle stream))                                              \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExecHandle exec))                                                        \
  X(graph_destroy, cuGraphDestroy, (GraphHandle graph))                                                                    \
  X(event_create, cuEventCreate, (EventHandle * event, unsigned flags))                                                    \
  X(event_destroy, cuEventDestroy_v2, (EventHandle event))                                                                 \
  X(event_record, cuEventRecord, (EventHandle event, StreamHandle stream))                                                 \
  X(event_sync, cuEventSynchronize, (EventHandle event))                                                                   \
  X(event_elapsed, cuEventElapsedTime, (float* ms, EventHandle start, EventHandle end))                                    \
  X(memory_alloc, cuMemAlloc_v2, (DevicePtr * ptr, size_t bytes))                                                          \
  X(memory_free, cuMemFree_v2, (DevicePtr ptr))                                                                            \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, (DevicePtr dst, const void* src, size_t bytes, StreamHandle stream))             \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void* dst, DevicePtr src, size_t bytes, StreamHandle stream))                     \
  X(memory_set, cuMemsetD8Async, (DevicePtr dst, unsigned char value, size_t bytes, StreamHandle stream))

// The driver's functions; null until loaded. A plain value, so that tests fill it with functions of their own.
struct Api {
#define NEREID_CUDA_FIELD(field, symbol, parameters) Error(*field) parameters = nullptr;
  NEREID_CUDA_SYMBOLS(NEREID_CUDA_FIELD)
#undef NEREID_CUDA_FIELD
};

}  // namespace nereid::cuda
