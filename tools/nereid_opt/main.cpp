// nereid-opt: mlir-opt with the dialects, stages and passes of this compiler, one by one.
//
//   nereid-opt kernel.mlir --apply-schedule --partition-roles --schedule 'roles=load+main,…' --target sm_90a
//   nereid-opt --help | grep nereid
//
// A stage of the table in compiler/pipeline/tile_to_gpu.h is a pass of the same name with dashes; an op that a stage cannot take
// is an error on the module. Everything else is mlir-opt's: --split-input-file, --verify-diagnostics, --mlir-print-ir-after-all.
#include "llvm/Support/CommandLine.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/codegen/check_target.h"
#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/conversion/cpu/lower_tile_to_host.h"
#include "compiler/dialect/tile_dialect.h"
#include "compiler/host/lower_to_host_llvm.h"
#include "compiler/pipeline/tile_to_gpu.h"
#include "runtime/spec/schedule.h"
#include "runtime/spec/target.h"

namespace {
using namespace nereid;
using namespace nereid::compiler;

llvm::cl::opt<std::string> schedule_text("schedule",
                                         llvm::cl::desc("schedule of the stages, key=value,… as `nereid compile` takes it"));
llvm::cl::opt<std::string> target_name("target", llvm::cl::init("sm_120a"), llvm::cl::desc("target of the stages"));

void insertDialects(mlir::DialectRegistry& registry) {
  registerCodegenDialects(registry);
  registry.insert<tile::TileDialect>();
}

using Stage = std::function<Status(mlir::ModuleOp, const Schedule&, const Target&)>;

struct StagePass : mlir::PassWrapper<StagePass, mlir::OperationPass<mlir::ModuleOp>> {
  StagePass(std::string name, std::string reason, Stage stage)
      : name(std::move(name)), reason("nereid: " + std::move(reason)), stage(std::move(stage)) {}

  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StagePass)
  llvm::StringRef getArgument() const override { return name; }
  llvm::StringRef getDescription() const override { return reason; }

  void getDependentDialects(mlir::DialectRegistry& registry) const override { insertDialects(registry); }

  void runOnOperation() override {
    auto schedule = parseSchedule(schedule_text, Schedule{});
    if (!schedule) return fail(schedule.diag());
    auto target = findTarget(target_name);
    if (!target) return fail(target.diag());
    if (Status s = stage(getOperation(), *schedule, *target); !s.ok()) fail(s.diag());
  }
  void fail(const Diag& d) {
    mlir::emitError(getOperation().getLoc()) << d.what << "; " << d.fix;
    signalPassFailure();
  }

  std::string name, reason;
  Stage stage;
};

void registerStage(llvm::StringRef name, std::string reason, Stage stage) {
  std::string argument = name.str();
  std::replace(argument.begin(), argument.end(), '_', '-');
  mlir::registerPass([=] { return std::make_unique<StagePass>(argument, reason, stage); });
}

void registerStages() {
  for (const GpuStage& stage : tileToGpuTable())
    registerStage(stage.name, stage.reason, [&stage](mlir::ModuleOp module, const Schedule& schedule, const Target& target) {
      GpuContext context{schedule, target, {}};
      return stage.run(module, context);
    });
  registerStage("check_target", "refuses ops that the target lacks",
                [](mlir::ModuleOp m, const Schedule&, const Target& t) { return checkTarget(m, t); });
  registerStage("lower_tile_to_host", "tile IR as recorded to loops over buffers",
                [](mlir::ModuleOp m, const Schedule&, const Target&) { return cpu::lowerTileToHost(m); });
  const auto registerTable = [](PassTable table) {
    for (const PassRow& row : table) mlir::registerPass(row.make);
  };
  registerTable(gpuLoweringTable());
  registerTable(hostLoweringTable());
}

}  // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  insertDialects(registry);
  mlir::registerTransformsPasses();
  registerStages();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "passes of the Nereid compiler\n", registry));
}
