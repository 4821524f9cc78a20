// nereid-opt: mlir-opt with the dialects, stages and passes of this compiler.
//
//   nereid-opt kernel.mlir --apply-schedule --partition-roles --schedule 'roles=load+main,…' --target sm_90a
//   nereid-opt kernel.mlir --tile-to-gpu=until=assign-layouts --schedule warps=4
//   nereid-opt --list
//
// A stage of a table is a pass of the same name with dashes, and each table is a pipeline whose option `until` names the last
// stage that runs. Everything else is mlir-opt's: --split-input-file, --verify-diagnostics, --mlir-print-ir-after-all.
//
// A refusal is an error at the op that it names, else at the module. Exit codes: 1 diagnostics are not those that the file
// expects; 2 usage, input, and what the target cannot run; 3 a defect.
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/codegen/check_target.h"
#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/codegen/mlir_diag.h"
#include "compiler/conversion/cpu/lower_tile_to_host.h"
#include "compiler/dialect/tile_dialect.h"
#include "compiler/host/lower_to_host_llvm.h"
#include "compiler/pipeline/tile_to_gpu.h"
#include "compiler/transforms/apply_schedule.h"
#include "runtime/spec/schedule.h"
#include "runtime/spec/target.h"

namespace {
using namespace nereid;
using namespace nereid::compiler;

llvm::cl::opt<std::string> schedule_text("schedule",
                                         llvm::cl::desc("schedule of the stages, key=value,… as `nereid compile` takes it"));
llvm::cl::opt<std::string> target_name("target", llvm::cl::init("sm_120a"), llvm::cl::desc("target of the stages"));
llvm::cl::opt<bool> list("list", llvm::cl::desc("the pipelines and their stages in order, with the reason for each"));

int report(const Diag& d) {
  llvm::errs() << "nereid-opt: " << d.text() << "\n";
  return exitCode(d.code);
}

void insertDialects(mlir::DialectRegistry& registry) {
  registerCodegenDialects(registry);
  registry.insert<tile::TileDialect>();
}

// What a stage runs with; set once, before the passes.
struct Settings {
  Schedule schedule;
  Target target;
};
Settings settings;
std::optional<Code> refused;  // by the first stage that did

// The place that Diag::where names, if it names one: `loc(…)` or file:line:column.
std::optional<mlir::Location> placeOf(mlir::MLIRContext* context, llvm::StringRef where) {
  if (where.starts_with("loc("))
    if (auto attr = llvm::dyn_cast_or_null<mlir::LocationAttr>(mlir::parseAttribute(where, context))) return mlir::Location(attr);
  auto [rest, column_text] = where.rsplit(':');
  auto [file, line_text] = rest.rsplit(':');
  unsigned line = 0, column = 0;
  if (line_text.getAsInteger(10, line) || column_text.getAsInteger(10, column)) return std::nullopt;
  return mlir::FileLineColLoc::get(context, file, line, column);
}

// Refuses a kernel that has not been through the stages that this one builds on.
Status checkReady(mlir::ModuleOp module, llvm::StringRef stage) {
  const bool lowers = stage == "lower_kernel";
  if (!lowers && stage != "assign_layouts") return {};
  Status status;
  module.walk([&](mlir::Operation* op) {
    const auto needs = [&](bool there, const char* what, const char* fix) {
      if (!there) status = Diag{Code::kUsage, what, locationText(op->getLoc()), fix};
      return there;
    };
    const auto laidOut = [](mlir::Type type) {
      auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type);
      return !tile || tile.getEncoding();
    };
    const bool ready =
        needs(!op->hasAttr(tile::kKernelAttr) || op->hasAttr(tile::kWarpsAttr), "the kernel has no schedule",
              "run --apply-schedule first") &&
        needs(!llvm::isa<tile::DotOp>(op) || op->hasAttr(tile::kGridAttr), "the dot has no grid of warps",
              "run --apply-schedule first") &&
        needs(!lowers || llvm::all_of(op->getResultTypes(), laidOut), "a tile has no layout", "run --assign-layouts first");
    return ready ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return status;
}

using StageBody = std::function<Status(mlir::ModuleOp)>;

struct StagePass : mlir::PassWrapper<StagePass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StagePass)
  StagePass(std::string argument, std::string reason, StageBody body)
      : argument(std::move(argument)), reason("nereid: " + std::move(reason)), body(std::move(body)) {}

  llvm::StringRef getArgument() const override { return argument; }
  llvm::StringRef getDescription() const override { return reason; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override { insertDialects(registry); }

  void runOnOperation() override {
    Status status = body(getOperation());
    if (status.ok()) return;
    const Diag& d = status.diag();
    if (!refused) refused = d.code;
    if (auto place = placeOf(&getContext(), d.where))
      mlir::emitError(*place) << d.what << "; " << d.fix;
    else
      mlir::emitError(getOperation().getLoc()) << d.text();
    signalPassFailure();
  }

  std::string argument, reason;
  StageBody body;
};

struct Stage {
  std::string name, reason;
  std::function<std::unique_ptr<mlir::Pass>()> make;
};

Stage stageOf(const char* name, const char* reason, StageBody body) {
  std::string argument = name;
  std::replace(argument.begin(), argument.end(), '_', '-');
  return {argument, reason, [=] { return std::make_unique<StagePass>(argument, reason, body); }};
}

struct Pipeline {
  const char* name;
  const char* purpose;
  std::vector<Stage> stages;
};

std::vector<Stage> rowsOf(PassTable table) {
  std::vector<Stage> stages;
  for (const PassRow& row : table) stages.push_back({row.name, row.reason, row.make});
  return stages;
}

std::vector<Pipeline> pipelines() {
  std::vector<Stage> gpu, host;
  for (const GpuStage& stage : tileToGpuTable())
    gpu.push_back(stageOf(stage.name, stage.reason, [&stage](mlir::ModuleOp module) -> Status {
      NEREID_CHECK_OK(checkReady(module, stage.name));
      GpuContext context{settings.schedule, settings.target, {}};
      return stage.run(module, context);
    }));
  for (const cpu::HostStage& stage : cpu::tileToHostTable()) host.push_back(stageOf(stage.name, stage.reason, stage.run));
  const Stage check = stageOf("check_target", "refuses ops that the target lacks; LLVM would end the process on them",
                              [](mlir::ModuleOp module) { return checkTarget(module, settings.target); });
  std::vector<Stage> gpu_rows = rowsOf(gpuLoweringTable());
  gpu_rows.push_back(check);
  return {{"tile-to-gpu", "a program to code for one thread", gpu},
          {"gpu-to-llvm", "what tile-to-gpu leaves to the llvm and nvvm dialects", gpu_rows},
          {"tile-to-host", "a program to loops over buffers", host},
          {"host-to-llvm", "what tile-to-host leaves to the llvm dialect", rowsOf(hostLoweringTable())}};
}

// The stages up to `until`, all if it is empty; none if there is no such stage.
llvm::ArrayRef<Stage> stagesUntil(const Pipeline& pipeline, llvm::StringRef until) {
  llvm::ArrayRef<Stage> stages = pipeline.stages;
  if (until.empty()) return stages;
  for (size_t i = 0; i < stages.size(); i++)
    if (stages[i].name == until) return stages.take_front(i + 1);
  return {};
}

void registerPipeline(const Pipeline& pipeline) {
  for (const Stage& stage : pipeline.stages)
    if (!mlir::PassInfo::lookup(stage.name)) mlir::registerPass(stage.make);
  mlir::registerPassPipeline(
      pipeline.name, std::string("nereid: ") + pipeline.purpose,
      [pipeline](mlir::OpPassManager& manager, llvm::StringRef options, auto error) {
        llvm::StringRef until = options;
        if (!options.empty() && !until.consume_front("until="))
          return error(std::string("option '") + options + "' of " + pipeline.name + "; it takes until=STAGE");
        llvm::ArrayRef<Stage> stages = stagesUntil(pipeline, until);
        if (stages.empty())
          return error(std::string(pipeline.name) + " has no stage '" + until + "'; nereid-opt --list names them");
        for (const Stage& stage : stages) manager.addPass(stage.make());
        return mlir::success();
      },
      [](auto) {});
}

void print(const Pipeline& pipeline) {
  llvm::outs() << "--" << pipeline.name << "[=until=STAGE]: " << pipeline.purpose << "\n";
  for (const Stage& stage : pipeline.stages) llvm::outs() << "  --" << llvm::left_justify(stage.name, 28) << stage.reason << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  insertDialects(registry);
  mlir::registerTransformsPasses();
  const std::vector<Pipeline> all = pipelines();
  for (const Pipeline& pipeline : all) registerPipeline(pipeline);
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "passes of the Nereid compiler\n", registry);
  if (list) {
    for (const Pipeline& pipeline : all) print(pipeline);
    return 0;
  }
  auto schedule = parseSchedule(schedule_text, Schedule{});
  if (!schedule) return report(schedule.diag());
  auto target = findTarget(target_name);
  if (!target) return report(target.diag());
  settings = {*schedule, *target};
  // Asked now: MlirOptMain's end destroys the options.
  const bool verifies = mlir::MlirOptMainConfig::createFromCLOptions().shouldVerifyDiagnostics();
  if (mlir::succeeded(mlir::MlirOptMain(argc, argv, input, output, registry))) return 0;
  if (verifies) return exitCode(Code::kCheckFailed);
  return exitCode(refused.value_or(Code::kInput));
}
