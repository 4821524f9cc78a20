// The order of passes from tile IR to code for one thread, as a table.
#pragma once
#include <span>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/codegen/trace.h"
#include "compiler/conversion/gpu/lower_kernel.h"
#include "runtime/spec/schedule.h"

namespace nereid::compiler {

// What the stages share.
struct GpuContext {
  const Schedule& schedule;
  const Target& target;
  gpu::LaunchShape shape;
};

struct GpuStage {
  const char* name;
  const char* reason;
  Status (*run)(mlir::ModuleOp module, GpuContext& context);
};
std::span<const GpuStage> tileToGpuTable();

// Runs the table. Dumps: "tile" before the first stage, then each stage's name; "gpu" after the last.
Result<gpu::LaunchShape> lowerTileToGpu(mlir::ModuleOp module, const Schedule& schedule, const Target& target, Trace& trace);

}  // namespace nereid::compiler
