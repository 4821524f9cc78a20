#include "compiler/codegen/pass_table.h"

#include <fmt/format.h>

#include "compiler/codegen/mlir_diag.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace nereid::compiler {
namespace {

std::string printModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

// One pass manager for the rows [begin, end).
Status runRows(mlir::ModuleOp module, PassTable rows, const std::string& stage) {
  mlir::PassManager manager(module.getContext());
  manager.enableVerifier(false);  // once at the end of the table; between passes it costs as much as the passes
  for (const PassRow& row : rows) manager.addPass(row.make());
  DiagCollector collector(module.getContext());
  bool failed = mlir::failed(manager.run(module));
  if (failed || collector.hasErrors())
    return collector.diag(Code::kInternal, "lowering (" + stage + ")", "report this with the output of --emit tile");
  return {};
}

}  // namespace

Status runPassTable(mlir::ModuleOp module, PassTable table, const std::string& stage, Trace& trace) {
  {
    StageTimer timer(trace, stage);
    size_t begin = 0;
    for (size_t i = 0; i < table.size(); i++) {
      std::string dump = table[i].dump;
      bool stop = i + 1 == table.size() || (!dump.empty() && trace.wants(dump));
      if (!stop) continue;
      NEREID_CHECK_OK(runRows(module, table.subspan(begin, i + 1 - begin), stage));
      begin = i + 1;
      if (!dump.empty() && trace.wants(dump)) trace.dumps[dump] = printModule(module);
    }
  }
  DiagCollector collector(module.getContext());
  if (mlir::failed(mlir::verify(module)))
    return collector.diag(Code::kInternal, "invalid IR after " + stage, "report this with the output of --emit tile");
  return {};
}

std::string printPassTable(PassTable table) {
  std::string text;
  for (const PassRow& row : table) {
    text += fmt::format("{:<28} {}{}\n", row.name, row.reason, *row.dump ? fmt::format(" [dump: {}]", row.dump) : "");
  }
  return text;
}

}  // namespace nereid::compiler
