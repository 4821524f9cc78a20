// What each function of the fake does: the general rule (recorded, may fail) from the list of symbols, its effect by name below.
#include "tests/unit/runtime/fake_driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nereid::fake {
namespace {

using namespace nereid::cuda;  // NOLINT(google-build-using-namespace): the signatures are the driver's

FakeDriver* g_driver = nullptr;

enum class Symbol {
#define NEREID_FAKE_ENUM(field, symbol, parameters) field,
  NEREID_CUDA_SYMBOLS(NEREID_FAKE_ENUM)
#undef NEREID_FAKE_ENUM
};

constexpr const char* kSymbols[] = {
#define NEREID_FAKE_NAME(field, symbol, parameters) #symbol,
    NEREID_CUDA_SYMBOLS(NEREID_FAKE_NAME)
#undef NEREID_FAKE_NAME
};

bool current() { return !g_driver->stack.empty() && g_driver->stack.back(); }

Error dropHandle(void* handle) { return g_driver->live.erase(handle) ? Error::kSuccess : Error::kInvalidValue; }

template <typename T>
Error makeHandle(T* out) {
  if (!current()) return Error::kInvalidContext;
  void* handle = g_driver->make();
  g_driver->live.insert(handle);
  *out = static_cast<T>(handle);
  return Error::kSuccess;
}

// The effect of a function; those without one succeed.
template <Symbol>
struct Effect {
  template <typename... A>
  static Error run(A...) {
    return Error::kSuccess;
  }
};

#define NEREID_EFFECT(field, ...)  \
  template <>                      \
  struct Effect<Symbol::field> {   \
    static Error run(__VA_ARGS__); \
  };                               \
  Error Effect<Symbol::field>::run(__VA_ARGS__)

NEREID_EFFECT(driver_version, int* version) { return *version = g_driver->version, Error::kSuccess; }
NEREID_EFFECT(error_name, Error error, const char** name) {
  *name = error == Error::kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
  return Error::kSuccess;
}
NEREID_EFFECT(error_string, Error, const char** text) { return *text = "as the test asked", Error::kSuccess; }
NEREID_EFFECT(device_count, int* count) { return *count = int(g_driver->chips.size()), Error::kSuccess; }
NEREID_EFFECT(device_get, Device* device, int ordinal) { return *device = ordinal + 100, Error::kSuccess; }
NEREID_EFFECT(device_name, char* name, int bytes, Device device) {
  std::snprintf(name, size_t(bytes), "%s", g_driver->chips[size_t(device - 100)].name.c_str());
  return Error::kSuccess;
}
NEREID_EFFECT(device_memory, size_t* bytes, Device) { return *bytes = size_t{8} << 30, Error::kSuccess; }
NEREID_EFFECT(device_attribute, int* value, DeviceAttribute attribute, Device device) {
  const Chip& chip = g_driver->chips[size_t(device - 100)];
  switch (attribute) {
    case DeviceAttribute::kComputeCapabilityMajor: *value = chip.major; break;
    case DeviceAttribute::kComputeCapabilityMinor: *value = chip.minor; break;
    case DeviceAttribute::kMultiprocessorCount: *value = chip.sm_count; break;
    case DeviceAttribute::kMaxSharedPerBlockOptin: *value = chip.shared_per_block; break;
    case DeviceAttribute::kMaxSharedPerMultiprocessor: *value = chip.shared_per_sm; break;
    case DeviceAttribute::kMaxRegistersPerMultiprocessor: *value = 65536; break;
    case DeviceAttribute::kMaxThreadsPerBlock: *value = 1024; break;
    case DeviceAttribute::kMaxThreadsPerMultiprocessor: *value = chip.threads_per_sm; break;
    case DeviceAttribute::kMaxGridDimX: *value = 0x7FFFFFFF; break;
    default: return Error::kInvalidValue;
  }
  return Error::kSuccess;
}
NEREID_EFFECT(primary_retain, ContextHandle* context, Device device) {
  ++g_driver->retained[device];
  *context = reinterpret_cast<ContextHandle>(uintptr_t(device));
  return Error::kSuccess;
}
NEREID_EFFECT(primary_release, Device device) {
  return --g_driver->retained[device] < 0 ? Error::kInvalidContext : Error::kSuccess;
}
NEREID_EFFECT(context_push, ContextHandle context) { return g_driver->stack.push_back(context), Error::kSuccess; }
NEREID_EFFECT(context_pop, ContextHandle* context) {
  if (g_driver->stack.empty()) return Error::kInvalidContext;
  *context = g_driver->stack.back();
  g_driver->stack.pop_back();
  return Error::kSuccess;
}
NEREID_EFFECT(context_sync) { return current() ? Error::kSuccess : Error::kInvalidContext; }
NEREID_EFFECT(module_load, ModuleHandle* module, const void* image, unsigned count, const JitOption* options, void** values) {
  if (!current()) return Error::kInvalidContext;
  if (!g_driver->reject_image.empty()) {
    for (unsigned i = 0; i + 1 < count; ++i)
      if (options[i] == JitOption::kErrorLogBuffer && options[i + 1] == JitOption::kErrorLogBytes)
        std::snprintf(static_cast<char*>(values[i]), reinterpret_cast<uintptr_t>(values[i + 1]), "%s",
                      g_driver->reject_image.c_str());
    return Error::kInvalidImage;
  }
  auto made = std::make_unique<Module>();
  made->image.assign(static_cast<const uint8_t*>(image), static_cast<const uint8_t*>(image) + 4);
  for (const Function& f : g_driver->entries) made->functions[f.name] = std::make_unique<Function>(f);
  void* handle = g_driver->make();
  g_driver->modules[handle] = std::move(made);
  *module = static_cast<ModuleHandle>(handle);
  return Error::kSuccess;
}
NEREID_EFFECT(module_unload, ModuleHandle module) {
  if (!current()) return Error::kInvalidContext;
  return g_driver->modules.erase(module) ? Error::kSuccess : Error::kInvalidValue;
}
NEREID_EFFECT(module_function, FunctionHandle* function, ModuleHandle module, const char* name) {
  auto& functions = g_driver->modules.at(module)->functions;
  const auto it = functions.find(name);
  if (it == functions.end()) return Error::kNotFound;
  *function = reinterpret_cast<FunctionHandle>(it->second.get());
  return Error::kSuccess;
}
Function& functionOf(FunctionHandle handle) { return *reinterpret_cast<Function*>(handle); }
NEREID_EFFECT(function_get, int* value, FunctionAttribute attribute, FunctionHandle handle) {
  const Function& f = functionOf(handle);
  switch (attribute) {
    case FunctionAttribute::kSharedBytes: *value = f.static_shared; break;
    case FunctionAttribute::kRegisters: *value = f.registers; break;
    case FunctionAttribute::kLocalBytes: *value = f.local; break;
    case FunctionAttribute::kMaxThreadsPerBlock: *value = f.max_threads; break;
    case FunctionAttribute::kMaxDynamicSharedBytes: *value = f.max_dynamic_shared; break;
  }
  return Error::kSuccess;
}
NEREID_EFFECT(function_set, FunctionHandle handle, FunctionAttribute attribute, int value) {
  Function& f = functionOf(handle);
  if (attribute != FunctionAttribute::kMaxDynamicSharedBytes || value + f.static_shared > g_driver->chips[0].shared_per_block)
    return Error::kInvalidValue;
  f.max_dynamic_shared = value;
  ++f.limit_changes;
  return Error::kSuccess;
}
NEREID_EFFECT(occupancy, int* blocks, FunctionHandle handle, int threads, size_t dynamic) {
  const Chip& chip = g_driver->chips[0];
  *blocks =
      std::min(chip.shared_per_sm / (int(dynamic) + functionOf(handle).static_shared + 1024), chip.threads_per_sm / threads);
  return Error::kSuccess;
}
NEREID_EFFECT(launch, const LaunchConfig* config, FunctionHandle handle, void** params, void** extra) {
  const Function& f = functionOf(handle);
  if (!current()) return Error::kInvalidContext;
  if (params || !config->grid_x || !config->grid_y || !config->grid_z || config->block_x > unsigned(f.max_threads))
    return Error::kInvalidValue;
  if (int(config->shared_bytes) > f.max_dynamic_shared) return Error::kInvalidValue;
  if (extra[0] != kLaunchBufferPointer || extra[2] != kLaunchBufferSize || extra[4] != kLaunchEnd) return Error::kInvalidValue;
  Launched one{.config = *config, .function = f.name};
  const auto* bytes = static_cast<const uint8_t*>(extra[1]);
  one.arguments.assign(bytes, bytes + *static_cast<const size_t*>(extra[3]));
  for (unsigned i = 0; i < config->attribute_count; ++i)
    if (config->attributes[i].id == LaunchAttributeId::kProgrammaticStreamSerialization)
      one.programmatic = config->attributes[i].value.programmatic_serialization;
  (g_driver->capturing.count(config->stream) ? g_driver->captured : g_driver->launched).push_back(std::move(one));
  return Error::kSuccess;
}
NEREID_EFFECT(stream_create, StreamHandle* stream, unsigned) { return makeHandle(stream); }
NEREID_EFFECT(stream_destroy, StreamHandle stream) { return dropHandle(stream); }
NEREID_EFFECT(event_create, EventHandle* event, unsigned) { return makeHandle(event); }
NEREID_EFFECT(event_destroy, EventHandle event) { return dropHandle(event); }
NEREID_EFFECT(event_elapsed, float* ms, EventHandle, EventHandle) { return *ms = g_driver->elapsed_ms, Error::kSuccess; }
NEREID_EFFECT(capture_begin, StreamHandle stream, CaptureMode) {
  g_driver->captured.clear();
  return g_driver->capturing.insert(stream).second ? Error::kSuccess : Error::kInvalidValue;
}
NEREID_EFFECT(capture_end, StreamHandle stream, GraphHandle* graph) {
  if (!g_driver->capturing.erase(stream)) return Error::kInvalidValue;
  const Error error = makeHandle(graph);
  g_driver->graphs[*graph] = g_driver->captured;
  return error;
}
NEREID_EFFECT(graph_instantiate, GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  const Error error = makeHandle(exec);
  g_driver->graphs[*exec] = g_driver->graphs[graph];
  return error;
}
NEREID_EFFECT(graph_launch, GraphExecHandle exec, StreamHandle) {
  for (const Launched& one : g_driver->graphs[exec]) g_driver->launched.push_back(one);
  return Error::kSuccess;
}
NEREID_EFFECT(graph_exec_destroy, GraphExecHandle exec) { return dropHandle(exec); }
NEREID_EFFECT(graph_destroy, GraphHandle graph) { return dropHandle(graph); }
NEREID_EFFECT(memory_alloc, DevicePtr* ptr, size_t bytes) {
  if (!current() || bytes == 0) return current() ? Error::kInvalidValue : Error::kInvalidContext;
  static DevicePtr next = 0x7000'0000'0000;
  *ptr = next;
  next += (bytes + 511) / 256 * 256;
  g_driver->memory[*ptr].assign(bytes, 0xEE);
  return Error::kSuccess;
}
NEREID_EFFECT(memory_free, DevicePtr ptr) { return g_driver->memory.erase(ptr) ? Error::kSuccess : Error::kInvalidValue; }
NEREID_EFFECT(copy_to_device, DevicePtr dst, const void* src, size_t bytes, StreamHandle) {
  size_t at = 0;
  auto* block = g_driver->find(dst, bytes, &at);
  if (!block || !current()) return Error::kInvalidValue;
  std::memcpy(block->data() + at, src, bytes);
  return Error::kSuccess;
}
NEREID_EFFECT(copy_to_host, void* dst, DevicePtr src, size_t bytes, StreamHandle) {
  size_t at = 0;
  const auto* block = g_driver->find(src, bytes, &at);
  if (!block || !current()) return Error::kInvalidValue;
  std::memcpy(dst, block->data() + at, bytes);
  return Error::kSuccess;
}
NEREID_EFFECT(memory_set, DevicePtr dst, unsigned char value, size_t bytes, StreamHandle) {
  size_t at = 0;
  auto* block = g_driver->find(dst, bytes, &at);
  if (!block || !current()) return Error::kInvalidValue;
  std::memset(block->data() + at, value, bytes);
  return Error::kSuccess;
}

template <Symbol S, typename... A>
Error called(A... arguments) {
  if (const Error error = g_driver->note(kSymbols[int(S)]); error != Error::kSuccess) return error;
  return Effect<S>::run(arguments...);
}

template <Symbol S, typename... A>
void bind(Error (*&field)(A...)) {
  field = called<S, A...>;
}

}  // namespace

FakeDriver::FakeDriver() {
  if (g_driver) std::abort();
  g_driver = this;
}
FakeDriver::~FakeDriver() { g_driver = nullptr; }

Api FakeDriver::api() {
  Api api;
#define NEREID_FAKE_BIND(field, symbol, parameters) bind<Symbol::field>(api.field);
  NEREID_CUDA_SYMBOLS(NEREID_FAKE_BIND)
#undef NEREID_FAKE_BIND
  return api;
}

Error FakeDriver::note(const char* symbol) {
  calls.emplace_back(symbol);
  return fail == symbol ? fail_with : Error::kSuccess;
}

int FakeDriver::count(const std::string& symbol) const { return int(std::count(calls.begin(), calls.end(), symbol)); }

std::vector<uint8_t>* FakeDriver::find(DevicePtr at, size_t bytes, size_t* offset) {
  auto it = memory.upper_bound(at);
  if (it == memory.begin()) return nullptr;
  --it;
  *offset = at - it->first;
  return *offset + bytes <= it->second.size() ? &it->second : nullptr;
}

std::string FakeDriver::leaks() const {
  std::string s;
  for (const auto& [device, n] : retained)
    if (n) s += "primary context of device " + std::to_string(device - 100) + " ";
  if (!stack.empty()) s += "a current context ";
  if (!live.empty()) s += std::to_string(live.size()) + " handles ";
  if (!modules.empty()) s += std::to_string(modules.size()) + " modules ";
  if (!memory.empty()) s += std::to_string(memory.size()) + " allocations ";
  if (!capturing.empty()) s += "a capture ";
  return s;
}

}  // namespace nereid::fake
