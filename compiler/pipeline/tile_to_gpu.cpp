// Tile IR → GPU: the table and its loop.
#include "compiler/pipeline/tile_to_gpu.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/host/expand_f8.h"
#include "compiler/transforms/apply_schedule.h"
#include "compiler/transforms/assign_layouts.h"
#include "compiler/transforms/expand_rows.h"
#include "compiler/transforms/guard_unit_rows.h"
#include "compiler/transforms/partition_roles.h"

namespace nereid::compiler {
namespace {

Status simplify(mlir::ModuleOp module, GpuContext&) {
  mlir::PassManager pm(module.getContext());
  pm.enableVerifier(false);  // once at the end of the table
  pm.addPass(mlir::createCSEPass());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  if (mlir::failed(pm.run(module))) return Diag{Code::kInternal, "simplification failed", "simplify", "report this program"};
  return {};
}

Status expandF8(mlir::ModuleOp module, GpuContext& context) {
  if (context.target.has_fp8) return {};
  mlir::PassManager pm(module.getContext());
  pm.addPass(createExpandF8Pass());
  if (mlir::failed(pm.run(module)))
    return Diag{Code::kInternal, "expansion of 8-bit floats failed", "expand_f8", "report this program"};
  return {};
}

constexpr GpuStage kTable[] = {
    {"simplify", "constants of the exact class fold into the program before anything depends on its shape", simplify},
    {"apply_schedule", "the schedule becomes attributes; what cannot run is refused before work is done",
     [](mlir::ModuleOp m, GpuContext& c) { return tile::applySchedule(m, c.schedule, c.target); }},
    {"guard_unit_rows", "a hint on single ops; found before roles and layouts put other ops between a factor and its use",
     [](mlir::ModuleOp m, GpuContext&) { return tile::guardUnitRows(m); }},
    {"partition_roles", "roles are cut on tiles, where a hand-over is one value and not its fragments",
     [](mlir::ModuleOp m, GpuContext&) { return tile::partitionRoles(m); }},
    {"expand_rows", "rows that no ring serves become plain accesses, whose layout is then chosen like any other's",
     [](mlir::ModuleOp m, GpuContext&) { return tile::expandRows(m); }},
    {"simplify_roles", "each role keeps only what it uses", simplify},
    {"assign_layouts", "layouts follow from the dots' grids; needs the roles, because warps are counted inside a role",
     [](mlir::ModuleOp m, GpuContext&) { return tile::assignLayouts(m); }},
    {"lower_kernel", "tiles become registers",
     [](mlir::ModuleOp m, GpuContext& c) -> Status {
       auto shape = gpu::lowerKernel(m, c.target);
       if (!shape) return shape.diag();
       c.shape = *shape;
       return {};
     }},
    {"expand_f8", "conversions that the target has no instruction for become integer arithmetic", expandF8},
};

std::string print(mlir::ModuleOp module) {
  std::string s;
  llvm::raw_string_ostream(s) << module;
  return s;
}

}  // namespace

std::span<const GpuStage> tileToGpuTable() { return kTable; }

Result<gpu::LaunchShape> lowerTileToGpu(mlir::ModuleOp module, const Schedule& schedule, const Target& target, Trace& trace) {
  GpuContext context{schedule, target, {}};
  if (trace.wants("tile")) trace.dumps["tile"] = print(module);
  Diag captured{Code::kInternal, "", "", "report this program"};
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic& d) {
    if (captured.what.empty()) llvm::raw_string_ostream(captured.what) << d;
    return mlir::success();
  });
  for (const GpuStage& stage : kTable) {
    StageTimer timer(trace, "tile");
    if (Status s = stage.run(module, context); !s.ok()) {
      if (trace.wants("failed")) trace.dumps["failed"] = print(module);
      return s.diag();
    }
    if (trace.wants(stage.name)) trace.dumps[stage.name] = print(module);
  }
  // Once: after each stage it would take a tenth of the way to PTX. nereid-opt verifies after each and so finds the stage.
  if (mlir::failed(mlir::verify(module))) {
    captured.where = "tile IR to GPU ops";
    if (trace.wants("failed")) trace.dumps["failed"] = print(module);
    return captured;
  }
  if (trace.wants("gpu")) trace.dumps["gpu"] = print(module);
  return context.shape;
}

}  // namespace nereid::compiler
