// Steps, divisors and groups of integer tiles, and what they allow a memory access to take at once; pitches of tiles in shared
// memory.
#include "compiler/transforms/axis_info.h"

#include <doctest/doctest.h>

#include <set>

#include "compiler/dialect/tile_dialect.h"
#include "compiler/transforms/assign_layouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace nereid;
using namespace nereid::tile;

namespace {

// A function with arguments, and its values by the order of their ops.
struct Fixture {
  explicit Fixture(const std::string& body) {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%p: !llvm.ptr {tile.align = 16 : i32}, %n: i32, %m: tensor<64xi1>) {\n" + body + "\nreturn\n}", &context);
    REQUIRE(module);
    func = *module->getOps<mlir::func::FuncOp>().begin();
  }
  // The result of the i-th op from the end, the return not counted.
  mlir::Value last(int i = 0) {
    auto it = std::next(func.getBody().front().rbegin(), i + 1);
    return it->getResult(0);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp func;
  AxisAnalysis axis;
};

}  // namespace

TEST_CASE("ranges step by one, products by their factor, sums by both") {
  Fixture f(R"(
    %r = tile.range 0 : tensor<64xi32>
    %c = arith.constant dense<24> : tensor<64xi32>
    %x = arith.muli %r, %c : tensor<64xi32>
    %s = tile.splat %n : i32 -> tensor<64xi32>
    %y = arith.addi %x, %s : tensor<64xi32>)");
  CHECK(f.axis.of(f.last(4)).step[0] == 1);
  CHECK(f.axis.of(f.last(2)).step[0] == 24);
  CHECK(f.axis.of(f.last(2)).divisor % 8 == 0);
  CHECK(f.axis.of(f.last(0)).step[0] == 24);
  CHECK(f.axis.of(f.last(0)).divisor == 1);  // nothing is known about %n
}

TEST_CASE("rows and columns of an address: contiguous columns may travel together") {
  const std::string body = R"(
    %r = tile.range 0 : tensor<8xi32>
    %c = tile.range 0 : tensor<64xi32>
    %pitch = arith.constant dense<PITCH> : tensor<8xi32>
    %start = arith.muli %r, %pitch : tensor<8xi32>
    %i = tile.broadcast %start dim 0 : tensor<8xi32> -> tensor<8x64xi32>
    %j = tile.broadcast %c dim 1 : tensor<64xi32> -> tensor<8x64xi32>
    %at = arith.addi %i, %j : tensor<8x64xi32>)";
  const auto width = [&](const char* pitch, int bytes, int align) {
    std::string text = body;
    text.replace(text.find("PITCH"), 5, pitch);
    Fixture f(text);
    return f.axis.vectorWidth(f.last(), {}, bytes, align);
  };
  CHECK(width("64", 2, 16) == 8);  // 16 bytes
  CHECK(width("64", 4, 16) == 4);
  CHECK(width("66", 2, 16) == 2);  // rows start at multiples of 4 bytes
  CHECK(width("65", 2, 16) == 1);
  CHECK(width("64", 2, 4) == 2);  // the base is aligned to 4 bytes
  CHECK(width("64", 1, 16) == 16);
}

TEST_CASE("a mask that changes inside a vector splits it") {
  Fixture whole(R"(
    %r = tile.range 0 : tensor<64xi32>
    %end = arith.constant dense<32> : tensor<64xi32>
    %ok = arith.cmpi slt, %r, %end : tensor<64xi32>)");
  CHECK(whole.axis.vectorWidth(whole.last(2), whole.last(), 4, 16) == 4);
  Fixture any(R"(
    %r = tile.range 0 : tensor<64xi32>
    %end = tile.splat %n : i32 -> tensor<64xi32>
    %ok = arith.cmpi slt, %r, %end : tensor<64xi32>)");
  CHECK(any.axis.vectorWidth(any.last(2), any.last(), 4, 16) == 1);
  CHECK(any.axis.vectorWidth(any.last(2), any.func.getArgument(2), 4, 16) == 1);  // nothing is known about the mask
}

TEST_CASE("a pitch lets the eight rows of an ldmatrix, and of its transposed form, fall into different banks") {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  for (int bytes : {32, 64, 80, 128, 512, 576, 656, 1152}) {
    const int pitch = sharedPitch(mlir::RankedTensorType::get({32, bytes}, b.getI8Type()));
    CHECK(pitch >= bytes);
    CHECK(pitch % 16 == 0);
    std::set<int> banks;
    for (int row = 0; row < 8; row++) banks.insert(row * pitch / 16 % 8);
    CHECK(banks.size() == 8);
  }
}
