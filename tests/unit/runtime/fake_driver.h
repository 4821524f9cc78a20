// A driver in memory: every function of the table, with the rules that callers can break (a context must be current, handles must
// be live, shared memory within the function's limit, ranges within allocations). Records calls in order; any function can be
// made to fail.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/driver/cuda_api.h"

namespace nereid::fake {

struct Function {
  std::string name;
  int static_shared = 0, registers = 64, local = 0, max_threads = 1024;
  int max_dynamic_shared = 48 * 1024;  // as the driver starts with
  int limit_changes = 0;               // calls that set it
};

struct Module {
  std::vector<uint8_t> image;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

// One launch as the driver got it.
struct Launched {
  cuda::LaunchConfig config;
  int programmatic = 0;
  std::vector<uint8_t> arguments;
  std::string function;
};

struct Chip {
  std::string name = "Fake GPU";
  int major = 12, minor = 0;
  int sm_count = 4, shared_per_block = 101376, shared_per_sm = 102400, threads_per_sm = 1536;
};

// One at a time in a process: the table's functions have no other way to find it.
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  cuda::Api api();
  int count(const std::string& symbol) const;  // calls so far
  // Nothing that was made is left: contexts, modules, streams, events, graphs, memory, and no context is current.
  std::string leaks() const;

  std::vector<Chip> chips{Chip{}};
  int version = 13000;
  std::string fail;  // a symbol that fails from now on
  cuda::Error fail_with = cuda::Error::kOutOfMemory;
  // The entries that a module image has; a code object of any bytes is fine unless `reject_image` says why not.
  std::vector<Function> entries{{.name = "kernel"}};
  std::string reject_image;

  std::vector<std::string> calls;
  std::vector<Launched> launched;
  std::map<cuda::Device, int> retained;    // primary contexts
  std::vector<cuda::ContextHandle> stack;  // current contexts of the one thread that tests use
  std::set<void*> live;                    // streams, events, graphs, executable graphs, contexts made by cuCtxCreate
  std::map<void*, std::unique_ptr<Module>> modules;
  std::map<cuda::DevicePtr, std::vector<uint8_t>> memory;
  std::set<void*> capturing;
  std::vector<Launched> captured;  // by the capture that runs
  std::map<void*, std::vector<Launched>> graphs;
  float elapsed_ms = 1.5f;

  cuda::Error note(const char* symbol);
  void* make() { return reinterpret_cast<void*>(next_handle_ += 16); }
  // The allocation that holds [at, at + bytes), or null.
  std::vector<uint8_t>* find(cuda::DevicePtr at, size_t bytes, size_t* offset);

 private:
  uintptr_t next_handle_ = 0x1000;
};

}  // namespace nereid::fake
