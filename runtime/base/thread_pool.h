// Threads for CPU kernels and host work: parallelFor over independent instances.
#pragma once
#include <cstdint>
#include <functional>

namespace nereid {

// Runs fn(i) for i in [0, count) on `threads` threads (0: one a core), which take instances one by one. Blocks until all are
// done. CPU kernels keep their tiles on the stack, so each thread has 64 MiB of it (address space; pages are touched as needed).
// fn must not throw. If threads cannot be started, the caller's thread does the rest.
void parallelFor(int64_t count, int threads, const std::function<void(int64_t)>& fn);

inline constexpr int64_t kWorkerStackBytes = int64_t{64} << 20;

}  // namespace nereid
