// Launches: of a code object on a stream, and of a CPU artifact on threads.
#pragma once
#include <cstdint>
#include <span>

#include "runtime/launch/arguments.h"
#include "runtime/module/code_object.h"

namespace nereid {

inline constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;  // of grid.x, on every chip since compute capability 3.0

struct LaunchOptions {
  int64_t grid = 0;         // blocks, all in x; 0: nothing is enqueued
  int dynamic_shared = -1;  // bytes; -1: what the artifact asks for; more: see residency.h
  // The kernel may start before its predecessor ends and waits for it by griddepcontrol.wait. Only for kernels that have that
  // wait.
  bool programmatic = false;
};

// Checks everything, then enqueues one launch. `slots`: one value for each of object.args(). The stream belongs to the object's
// context; null is its default stream. Allocates nothing, takes no lock, does not wait for the device. An error means that
// nothing was enqueued; faults of the running kernel appear at a later call.
Status launch(const CodeObject& object, std::span<const ArgSlot> slots, const LaunchOptions& options, cuda::StreamHandle stream);

// Runs the instances [0, grid) of a CPU artifact on `threads` threads (0: one a core) and returns when all are done.
Status launchOnCpu(const Artifact& artifact, std::span<const ArgSlot> slots, int64_t grid, int threads = 0);

}  // namespace nereid
