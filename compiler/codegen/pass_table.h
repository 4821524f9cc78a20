// The order of passes as data: a table row says which pass, why it stands here, and the name of the dump after it.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "compiler/codegen/trace.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/base/result.h"

namespace nereid::compiler {

struct PassRow {
  const char* name;    // as mlir-opt spells it
  const char* reason;  // why it is in the table, and at this place
  const char* dump;    // dump taken after it when the trace wants that name; "" for none
  std::unique_ptr<mlir::Pass> (*make)();
};
using PassTable = std::span<const PassRow>;

// Runs the table over `module` and verifies the result. An error that a pass reports fails the run even where the pass itself
// claims success, as convert-vector-to-llvm does for a memory space it does not know. `stage` is the key in trace.stages_ms.
Status runPassTable(mlir::ModuleOp module, PassTable table, const std::string& stage, Trace& trace);

// "name: reason" lines, for --print-pipeline.
std::string printPassTable(PassTable table);

}  // namespace nereid::compiler
