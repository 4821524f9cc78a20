// MLIR's diagnostics as values: collects what ops and passes report on this thread instead of printing it to stderr.
#pragma once
#include <string>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "runtime/base/result.h"

namespace nereid::compiler {

// "file.cpp:12:3" where the location has a file, else its printed form.
std::string locationText(mlir::Location location);

class DiagCollector {
 public:
  explicit DiagCollector(mlir::MLIRContext* context);
  bool hasErrors() const { return errors_ != 0; }
  // First error as `what`, its place as `where`, the number of further errors appended.
  Diag diag(Code code, const std::string& doing, const std::string& fix) const;

 private:
  mlir::ScopedDiagnosticHandler handler_;
  int errors_ = 0;
  std::string first_, first_where_;
};

}  // namespace nereid::compiler
