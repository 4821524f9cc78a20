// Recorder: literals, shapes and types of DSL values, and the entry point record().
#include <fmt/format.h>

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include "compiler/dialect/tile_dialect.h"
#include "compiler/dsl/dsl_impl.h"

namespace nereid::dsl {

int typeBytes(Type type) {
  switch (type) {
    case Type::I64: return 8;
    case Type::I32:
    case Type::F32: return 4;
    case Type::F16:
    case Type::BF16: return 2;
    default: return 1;
  }
}

std::unique_ptr<mlir::MLIRContext> makeContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                       mlir::func::FuncDialect, mlir::tensor::TensorDialect, mlir::cf::ControlFlowDialect,
                       mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect, mlir::vector::VectorDialect, mlir::memref::MemRefDialect,
                       mlir::linalg::LinalgDialect, mlir::ub::UBDialect>();
  return context;
}

mlir::Location Recorder::at(std::source_location loc) {
  llvm::StringRef file(loc.file_name());
  // Content only: a build folder in a location would make the same program's bytes differ between machines.
  for (llvm::StringRef root : {"kernels_dsl/", "examples/", "compiler/", "tests/"})
    if (size_t p = file.rfind(root); p != llvm::StringRef::npos) {
      file = file.drop_front(p);
      break;
    }
  return mlir::FileLineColLoc::get(b.getContext(), file, loc.line(), loc.column());
}

void Recorder::misuse(std::string what, std::source_location loc, std::string fix) {
  throw MisuseError{{Code::kUsage, std::move(what), fmt::format("{}:{}", loc.file_name(), loc.line()), std::move(fix)}};
}

mlir::Type Recorder::mlirType(Type type) {
  switch (type) {
    case Type::I1: return b.getI1Type();
    case Type::I8: return b.getI8Type();
    case Type::I32: return b.getI32Type();
    case Type::I64: return b.getI64Type();
    case Type::F16: return b.getF16Type();
    case Type::BF16: return b.getBF16Type();
    case Type::F32: return b.getF32Type();
    case Type::F8E4M3: return mlir::Float8E4M3FNType::get(b.getContext());
    case Type::F8E8M0: return mlir::Float8E8M0FNUType::get(b.getContext());
  }
  return {};
}

Type Recorder::dslType(mlir::Type type, std::source_location loc) {
  if (auto t = mlir::dyn_cast<mlir::RankedTensorType>(type)) type = t.getElementType();
  for (Type t : {Type::I1, Type::I8, Type::I32, Type::I64, Type::F16, Type::BF16, Type::F32, Type::F8E4M3, Type::F8E8M0})
    if (mlirType(t) == type) return t;
  misuse("a pointer is not a number", loc, "load from it or pass it as a base");
}

Value Recorder::wrap(mlir::Value v, int axis, int element) {
  Value out;
  out.recorder_ = this;
  out.handle_ = v.getAsOpaquePointer();
  out.axis_ = axis;
  out.element_ = element;
  out.kind_ = Value::Kind::kRecorded;
  return out;
}

Value Recorder::materialize(const Value& v, mlir::Type element, std::source_location loc) {
  if (!v.present()) misuse("an absent value is used", loc, "initialise the Value first");
  if (!v.isLiteral()) return v;
  if (auto t = mlir::dyn_cast<mlir::RankedTensorType>(element)) element = t.getElementType();
  mlir::TypedAttr attr;
  if (element.isIntOrIndex()) {
    if (!isIntLiteral(v))
      misuse(fmt::format("the literal {} meets an integer value", v.literal_), loc, "convert the value or write an integer");
    const int64_t x = v.kind_ == Value::Kind::kInt64 ? v.int_literal_ : static_cast<int64_t>(v.literal_);
    attr = b.getIntegerAttr(element, x);
  } else if (auto f = mlir::dyn_cast<mlir::FloatType>(element)) {
    attr = b.getFloatAttr(f, v.literal_);
  } else {
    misuse("a literal meets a pointer", loc);
  }
  return wrap(mlir::arith::ConstantOp::create(b, at(loc), attr));
}

mlir::Value Recorder::expand(const Value& v, llvm::ArrayRef<int64_t> shape, std::source_location loc) {
  mlir::Value x = raw(v);
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(x.getType());
  mlir::Type element = type ? type.getElementType() : x.getType();
  if (shape.empty()) {
    if (type) misuse("a tile is used where a scalar is needed", loc);
    return x;
  }
  auto target = mlir::RankedTensorType::get(shape, element);
  if (!type) return tile::SplatOp::create(b, at(loc), target, x);
  if (shape.size() == 2 && type.getRank() == 1) {
    if (v.axis_ < 0) misuse("a vector meets a matrix", loc, "say .col() or .row()");
    if (type.getDimSize(0) != shape[v.axis_])
      misuse(fmt::format("a vector of {} meets dimension {} of {}", type.getDimSize(0), v.axis_, shape[v.axis_]), loc);
    return tile::BroadcastOp::create(b, at(loc), target, x, v.axis_);
  }
  if (type != target)
    misuse("two tiles of different shapes meet", loc, "their shapes must be equal, or one a scalar, .col() or .row()");
  return x;
}

mlir::Value Recorder::argument(std::string_view name, std::source_location loc, const Arg** arg) {
  std::string known;
  for (size_t i = 0; i < args_.size(); i++) {
    if (args_[i].name == name) {
      if (arg) *arg = &args_[i];
      return entry_->getArgument(i);
    }
    known += (known.empty() ? "" : ", ") + args_[i].name;
  }
  misuse(fmt::format("the kernel has no argument {}", name), loc, "its arguments are " + known);
}

//===--------------------------------------------------------------------------------------------------------------------------===//

int Value::rank() const {
  if (!recorder_) return 0;
  auto t = mlir::dyn_cast<mlir::RankedTensorType>(recorder_->raw(*this).getType());
  return t ? (axis_ >= 0 ? 2 : t.getRank()) : 0;
}

std::vector<int64_t> Value::shape() const {
  if (!recorder_) return {};
  auto t = mlir::dyn_cast<mlir::RankedTensorType>(recorder_->raw(*this).getType());
  if (!t) return {};
  if (axis_ == 0) return {t.getDimSize(0), 1};
  if (axis_ == 1) return {1, t.getDimSize(0)};
  return t.getShape().vec();
}

Type Value::type() const {
  if (!recorder_) return kind_ == Kind::kFloat ? Type::F32 : Type::I32;
  return recorder_->dslType(recorder_->raw(*this).getType(), std::source_location::current());
}

Value Value::col() const {
  Value v = *this;
  v.axis_ = 0;
  return v;
}

Value Value::row() const {
  Value v = *this;
  v.axis_ = 1;
  return v;
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::string Program::text() const {
  std::string s;
  llvm::raw_string_ostream os(s);
  impl_->module.get()->print(os);
  return s;
}

Result<Program> record(std::string_view name, const ArgList& args, const std::function<void(Builder&)>& body) {
  auto impl = std::make_unique<Program::Impl>();
  impl->context = makeContext();
  impl->kernel = std::string(name);
  impl->args = args;
  mlir::MLIRContext* context = impl->context.get();
  mlir::OpBuilder b(context);
  mlir::Location unknown = b.getUnknownLoc();
  impl->module = mlir::ModuleOp::create(unknown);
  b.setInsertionPointToEnd(impl->module->getBody());

  llvm::SmallVector<mlir::Type> types;
  for (const Arg& a : args) {
    if (a.type == ArgType::kPointer) types.push_back(mlir::LLVM::LLVMPointerType::get(context));
    if (a.type == ArgType::kI32) types.push_back(b.getI32Type());
    if (a.type == ArgType::kI64) types.push_back(b.getI64Type());
    if (a.type == ArgType::kF32) types.push_back(b.getF32Type());
  }
  auto func = mlir::func::FuncOp::create(b, unknown, impl->kernel, b.getFunctionType(types, {}));
  func->setAttr(tile::kKernelAttr, b.getUnitAttr());
  for (size_t i = 0; i < args.size(); i++)
    if (args[i].align > 1) func.setArgAttr(i, tile::kAlignAttr, b.getI32IntegerAttr(args[i].align));
  mlir::Block* entry = func.addEntryBlock();
  b.setInsertionPointToStart(entry);

  Recorder recorder(b, args, entry);
  try {
    Builder builder(recorder);
    body(builder);
  } catch (const MisuseError& e) {
    return e.diag;
  }
  mlir::func::ReturnOp::create(b, unknown);

  Diag diag{Code::kUsage, "", std::string(name), "correct the program"};
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& d) {
    if (diag.what.empty()) {
      llvm::raw_string_ostream(diag.what) << d;
      llvm::raw_string_ostream(diag.where = "") << d.getLocation();
    }
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(*impl->module))) return diag;
  return Program(std::move(impl));
}

}  // namespace nereid::dsl
