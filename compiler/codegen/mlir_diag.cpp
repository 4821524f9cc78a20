#include "compiler/codegen/mlir_diag.h"

#include <fmt/format.h>

#include "llvm/Support/raw_ostream.h"

namespace nereid::compiler {

std::string locationText(mlir::Location location) {
  if (auto at = location->findInstanceOf<mlir::FileLineColLoc>())
    return fmt::format("{}:{}:{}", at.getFilename().str(), at.getLine(), at.getColumn());
  std::string text;
  llvm::raw_string_ostream(text) << location;
  return text;
}

DiagCollector::DiagCollector(mlir::MLIRContext* context)
    : handler_(context, [this](mlir::Diagnostic& diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) return mlir::success();
        if (errors_++ == 0) {
          first_ = diagnostic.str();
          first_where_ = locationText(diagnostic.getLocation());
          for (mlir::Diagnostic& note : diagnostic.getNotes()) {
            // "see current operation" notes print whole modules; the first line names the op.
            std::string text = note.str();
            first_ += "; " + text.substr(0, text.find('\n'));
          }
        }
        return mlir::success();
      }) {}

Diag DiagCollector::diag(Code code, const std::string& doing, const std::string& fix) const {
  std::string what = errors_ == 0 ? doing + " failed without a message" : doing + ": " + first_;
  if (errors_ > 1) what += fmt::format(" (and {} more errors)", errors_ - 1);
  return Diag{code, what, first_where_, fix};
}

}  // namespace nereid::compiler
