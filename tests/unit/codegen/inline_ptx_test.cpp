// The table of inline PTX: each form assembles where it says, and nothing else passes.
#include "compiler/codegen/inline_ptx.h"

#include <doctest/doctest.h>

#include <sstream>

#include "compiler/codegen/check_target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tests/unit/codegen/fixtures.h"

using namespace nereid;
using namespace nereid::compiler;
using namespace nereid::compiler::test;

namespace {

// A kernel whose body is one form, its operands kernel arguments, its results stored.
struct FormKernel {
  Parsed parsed{"llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>"};

  explicit FormKernel(const InlinePtxForm& form) {
    mlir::MLIRContext* context = parsed.context.get();
    mlir::OpBuilder builder(context);
    mlir::Location location = builder.getUnknownLoc();
    context->getOrLoadDialect<mlir::LLVM::LLVMDialect>();
    builder.setInsertionPointToEnd(parsed.module->getBody());
    mlir::Type pointer = mlir::LLVM::LLVMPointerType::get(context, 1);
    mlir::Type args[] = {pointer, builder.getI32Type(), builder.getI64Type(), builder.getF32Type(), builder.getI1Type()};
    auto function = mlir::LLVM::LLVMFuncOp::create(
        builder, location, "k", mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(context), args));
    function->setAttr("nvvm.kernel", builder.getUnitAttr());
    mlir::Block* block = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    bool shared = std::string(form.text).find("shared") != std::string::npos;
    llvm::SmallVector<mlir::Value> operands;
    std::istringstream constraints(form.constraints);
    for (std::string constraint; std::getline(constraints, constraint, ',');) {
      if (constraint[0] == '=' || constraint[0] == '~') continue;
      if (constraint == "n") {
        operands.push_back(
            mlir::LLVM::ConstantOp::create(builder, location, builder.getI32Type(), builder.getI32IntegerAttr(0xEA)));
      } else if (constraint == "f") {
        operands.push_back(block->getArgument(3));
      } else if (constraint == "l") {  // the first is an address, later ones policies
        bool first = operands.empty() || (shared && operands.size() == 1);
        operands.push_back(block->getArgument(first ? 0 : 2));
      } else if (shared && operands.empty()) {
        operands.push_back(
            mlir::LLVM::AddressOfOp::create(builder, location, mlir::LLVM::LLVMPointerType::get(context, 3), "smem"));
      } else {
        operands.push_back(block->getArgument(1));
      }
    }
    for (mlir::Value result : emitInlinePtx(builder, location, form.name, operands))
      mlir::LLVM::StoreOp::create(builder, location, result, block->getArgument(0));
    mlir::LLVM::ReturnOp::create(builder, location, mlir::ValueRange());
  }
};

}  // namespace

TEST_CASE("each form assembles on the targets that it names and is refused on the others") {
  int forms = 0;
  for (const InlinePtxForm& form : inlinePtxForms()) {
    if (form.from_nvvm) continue;
    forms++;
    for (const Target& target : gpuTargets()) {
      FormKernel kernel(form);
      Trace trace;
      Result<std::string> ptx = moduleToPtx(*kernel.parsed, target, trace);
      INFO(std::string(form.name), " on ", target.name, ": ", ptx ? "" : ptx.diag().text());
      CHECK(ptx.ok() == (target.sm >= form.min_sm && target.ptx_version >= form.min_ptx));
      if (!ptx) {
        CHECK(ptx.diag().what.find(form.name) != std::string::npos);
        continue;
      }
      Result<Assembled> cubin = assemble(*ptx, target);
      INFO((cubin ? "" : cubin.diag().text()));
      CHECK(cubin);
    }
  }
  CHECK(forms > 10);
}

TEST_CASE("names are unique and found, unknown ones are not") {
  for (const InlinePtxForm& form : inlinePtxForms()) {
    CHECK(findInlinePtx(form.name) == &form);
    CHECK(matchInlinePtx(form.text, form.constraints) == &form);
  }
  CHECK(findInlinePtx("nop") == nullptr);
}

TEST_CASE("text outside the table is refused") {
  Target target = *findTarget("sm_90a");
  for (const char* body :
       {"llvm.inline_asm has_side_effects \"trap;\", \"\" : () -> ()",
        "llvm.inline_asm \"createpolicy.fractional.L2::evict_last.b64 $0, 1.0;\", \"=l,~{memory}\" : () -> i64",
        "nvvm.inline_ptx \"trap;\""}) {
    Parsed parsed(std::string("llvm.func @k() attributes {nvvm.kernel} {\n  ") + body + "\n  llvm.return\n}");
    INFO(parsed.error);
    REQUIRE(parsed.module);
    Status status = checkTarget(*parsed, target);
    REQUIRE_FALSE(status);
    CHECK(status.diag().code == Code::kUnsupported);
    CHECK(status.diag().what.find("is not in the table of inline forms") != std::string::npos);
  }
}

TEST_CASE("what the NVVM dialect prints as text is in the table") {
  Parsed parsed(R"(
llvm.func @k(%s: !llvm.ptr<3>, %p: !llvm.ptr, %i: i32, %b: i1) attributes {nvvm.kernel} {
  nvvm.mbarrier.try_wait.parity %s, %i, %i : !llvm.ptr<3>, i32, i32
  nvvm.mbarrier.try_wait.parity %p, %i, %i : !llvm.ptr, i32, i32
  nvvm.mbarrier.init %s, %i, predicate = %b : !llvm.ptr<3>, i32, i1
  nvvm.mbarrier.arrive.expect_tx %s, %i, predicate = %b : !llvm.ptr<3>, i32, i1
  nvvm.barrier.arrive id = %i number_of_threads = %i
  nvvm.barrier.arrive number_of_threads = %i
  llvm.return
})");
  INFO(parsed.error);
  REQUIRE(parsed.module);
  Trace trace;
  REQUIRE(lowerToLlvmDialect(*parsed, trace));
  int texts = 0;
  parsed.module->walk([&](mlir::LLVM::InlineAsmOp op) {
    texts++;
    const InlinePtxForm* form = matchInlinePtx(op.getAsmString(), op.getConstraints());
    INFO(op.getAsmString().str(), " ", op.getConstraints().str());
    CHECK(form);
    CHECK(form->from_nvvm);
  });
  CHECK(texts == 6);
  CHECK(checkTarget(*parsed, *findTarget("sm_90a")));
}
