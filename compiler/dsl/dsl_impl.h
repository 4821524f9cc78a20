// The MLIR side of the DSL; included by the compiler only.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/dsl/dsl.h"

namespace nereid::dsl {

struct Program::Impl {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string kernel;
  ArgList args;
};

// A context with every dialect a tile program or its lowering uses.
std::unique_ptr<mlir::MLIRContext> makeContext();

// Thrown by the DSL on misuse, caught by record().
struct MisuseError {
  Diag diag;
};

class Recorder {
 public:
  Recorder(mlir::OpBuilder& builder, const ArgList& args, mlir::Block* entry) : b(builder), args_(args), entry_(entry) {}

  mlir::OpBuilder& b;

  mlir::Location at(std::source_location loc);
  [[noreturn]] void misuse(std::string what, std::source_location loc, std::string fix = "");
  mlir::Type mlirType(Type type);
  Type dslType(mlir::Type type, std::source_location loc);

  Value wrap(mlir::Value v, int axis = -1, int element = -1);
  mlir::Value raw(const Value& v) const { return mlir::Value::getFromOpaquePointer(v.handle_); }
  int axisOf(const Value& v) const { return v.axis_; }
  int elementOf(const Value& v) const { return v.element_; }
  static Recorder* of(const Value& v) { return v.recorder_; }
  static bool isIntLiteral(const Value& v) { return v.kind_ == Value::Kind::kInt || v.kind_ == Value::Kind::kInt64; }
  // A literal as a scalar of `type`, a recorded value as it is.
  Value materialize(const Value& v, mlir::Type element, std::source_location loc);
  // A value as a tile of exactly `shape` (empty: scalar).
  mlir::Value expand(const Value& v, llvm::ArrayRef<int64_t> shape, std::source_location loc);
  mlir::Value argument(std::string_view name, std::source_location loc, const Arg** arg = nullptr);

 private:
  const ArgList& args_;
  mlir::Block* entry_;
};

}  // namespace nereid::dsl
