// Shared by the tests of code generation: contexts, parsing, targets, compiling in a child process.
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "compiler/assembler/assemble.h"
#include "compiler/assembler/assembler_log.h"
#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/codegen/mlir_diag.h"
#include "compiler/codegen/module_to_ptx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "runtime/spec/target.h"

namespace nereid::compiler::test {

inline std::vector<Target> gpuTargets() {
  std::vector<Target> targets;
  for (const Target& target : allTargets()) {
    if (target.isGpu()) targets.push_back(target);
  }
  return targets;
}

// A module parsed from text in a context of its own; `error` says why there is none.
struct Parsed {
  mlir::DialectRegistry registry;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string error;

  explicit Parsed(const std::string& text) {
    registerCodegenDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    DiagCollector collector(context.get());
    module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get(), "test.mlir");
    if (!module) error = collector.diag(Code::kInput, "parse", "").text();
  }
  mlir::ModuleOp operator*() { return *module; }
};

// True where `work` returns true in a child process. LLVM's fatal errors end only the child.
template <typename Work>
bool succeedsInChild(Work work) {
  pid_t child = fork();
  if (child == 0) {
    // A crash here is an answer, not a failure of the test program: no report, no core file.
    for (int signal_number : {SIGABRT, SIGSEGV, SIGILL}) std::signal(signal_number, SIG_DFL);
    rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace nereid::compiler::test
