// CPU code: modules compiled, linked and called.
#include "compiler/host/host_code.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/unit/codegen/host_fixtures.h"

using namespace nereid;
using namespace nereid::compiler;
using namespace nereid::compiler::test;

TEST_CASE("a loop over a block's part of an array") {
  HostCode code = buildOrFail(R"(
func.func @scale(%args: !llvm.ptr, %block: i64) {
  %data = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %slot1 = llvm.getelementptr %args[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %factor = llvm.load %slot1 : !llvm.ptr -> f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %begin = arith.muli %block, %c8 : i64
  scf.for %i = %c0 to %c8 step %c1 : i64 {
    %at = arith.addi %begin, %i : i64
    %p = llvm.getelementptr %data[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %p : !llvm.ptr -> f32
    %y = arith.mulf %x, %factor : f32
    llvm.store %y, %p : f32, !llvm.ptr
  }
  return
})",
                              "scale");
  std::vector<float> data(32);
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<float>(i);
  ArgSlot args[2];
  args[0].pointer = data.data();
  args[1].f32 = 3;
  std::vector<std::thread> threads;
  for (int64_t block : {1, 3}) threads.emplace_back([&, block] { code.entry(args, block); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < data.size(); i++) CHECK(data[i] == static_cast<float>(i) * ((i / 8) % 2 == 1 ? 3 : 1));
}

TEST_CASE("mathematical functions are libm's") {
  const std::pair<const char*, float (*)(float)> functions[] = {
      {"math.exp2", exp2f},      {"math.exp", expf},   {"math.log2", log2f},   {"math.log", logf},
      {"math.sqrt", sqrtf},      {"math.tanh", tanhf}, {"math.floor", floorf}, {"math.erf", erff},
      {"math.roundeven", rintf}, {"math.absf", fabsf}, {"math.sin", sinf},     {"math.cos", cosf}};
  for (const auto& [name, function] : functions) {
    INFO(std::string(name));
    HostCode code = buildOrFail(unary(std::string("%r = ") + name + " %x : f32"), "k");
    for (float x : {0.0f, 0.3f, 2.5f, 17.25f}) CHECK(call<float>(code, x) == function(x));
  }
  HostCode code = buildOrFail(unary("%r = math.fma %x, %x, %x : f32"), "k");
  CHECK(call<float>(code, 1.0000001f) == fmaf(1.0000001f, 1.0000001f, 1.0000001f));
}

TEST_CASE("vectors of functions too") {
  HostCode code = buildOrFail(unary("%v = vector.broadcast %x : f32 to vector<8xf32>\n %e = math.exp2 %v : vector<8xf32>\n"
                                    "%r = vector.reduction <add>, %e : vector<8xf32> into f32"),
                              "k");
  CHECK(call<float>(code, 3.0f) == 64.0f);
}

TEST_CASE("bf16 and f16 conversions round to nearest even and keep NaN") {
  HostCode to_bf16 = buildOrFail(unary("%r = arith.truncf %x : f32 to bf16", "f32", "bf16"), "k");
  auto bf16 = [&](uint32_t bits) { return call<uint16_t>(to_bf16, std::bit_cast<float>(bits)); };
  CHECK(bf16(0x3F800000) == 0x3F80);
  CHECK(bf16(0x3F808000) == 0x3F80);  // a tie goes to the even neighbour
  CHECK(bf16(0x3F818000) == 0x3F82);
  CHECK(bf16(0x3F808001) == 0x3F81);
  CHECK(bf16(0x7F7FFFFF) == 0x7F80);
  CHECK(bf16(0xFF800000) == 0xFF80);
  CHECK(bf16(0x00000001) == 0x0000);
  CHECK((bf16(0x7F800001) & 0x7FFF) > 0x7F80);
  HostCode from_bf16 = buildOrFail(unary("%r = arith.extf %x : bf16 to f32", "bf16", "f32"), "k");
  CHECK(call<float>(from_bf16, uint16_t{0x4049}) == std::bit_cast<float>(0x40490000));

  HostCode to_f16 = buildOrFail(unary("%r = arith.truncf %x : f32 to f16", "f32", "f16"), "k");
  CHECK(call<uint16_t>(to_f16, 1.0f) == 0x3C00);
  CHECK(call<uint16_t>(to_f16, 65520.0f) == 0x7C00);
  CHECK(call<uint16_t>(to_f16, 5.9604645e-8f) == 0x0001);
  HostCode from_f16 = buildOrFail(unary("%r = arith.extf %x : f16 to f32", "f16", "f32"), "k");
  CHECK(call<float>(from_f16, uint16_t{0x0001}) == 5.9604645e-8f);
}

TEST_CASE("bf16 arithmetic, which the CPU may lack") {
  HostCode code = buildOrFail(unary("%r = arith.addf %x, %x : bf16", "bf16", "bf16"), "k");
  CHECK(call<uint16_t>(code, uint16_t{0x3FC0}) == 0x4040);
}

TEST_CASE("memory of a function: alloca and alloc") {
  HostCode code = buildOrFail(unary("%m = memref.alloca() : memref<4xf32>\n %h = memref.alloc() : memref<4xf32>\n"
                                    "%c2 = arith.constant 2 : index\n memref.store %x, %m[%c2] : memref<4xf32>\n"
                                    "%y = memref.load %m[%c2] : memref<4xf32>\n memref.store %y, %h[%c2] : memref<4xf32>\n"
                                    "%r = memref.load %h[%c2] : memref<4xf32>\n memref.dealloc %h : memref<4xf32>"),
                              "k");
  CHECK(call<float>(code, 2.5f) == 2.5f);
}

TEST_CASE("equal symbols of two artifacts do not meet, and code outlives its maker") {
  HostCode twice = buildOrFail(unary("%r = arith.addf %x, %x : f32"), "k");
  HostCode square = buildOrFail(unary("%r = arith.mulf %x, %x : f32"), "k");
  CHECK((twice.entry != square.entry));
  CHECK(call<float>(twice, 5.0f) == 10.0f);
  CHECK(call<float>(square, 5.0f) == 25.0f);
  std::shared_ptr<void> code = square.code;
  CpuEntry entry = square.entry;
  square = twice;
  CHECK(call<float>(HostCode{code, entry}, 6.0f) == 36.0f);
}

TEST_CASE("an object can be kept and linked later") {
  Parsed parsed(unary("%r = math.exp2 %x : f32"));
  Trace trace;
  REQUIRE(lowerToHostLlvm(*parsed, trace));
  Result<std::vector<uint8_t>> object = moduleToHostObject(*parsed, trace);
  REQUIRE(object);
  CHECK(std::string(object->begin() + 1, object->begin() + 4) == "ELF");
  Result<HostCode> code = loadHostObject(*object, "k", trace);
  REQUIRE(code);
  CHECK(call<float>(*code, 5.0f) == 32.0f);
  for (const char* stage : {"mlir", "translate", "optimise", "codegen", "link"}) CHECK(trace.stages_ms.count(stage) == 1);
}

TEST_CASE("errors name the symbol or the op") {
  Trace trace;
  std::string unknown =
      "func.func private @no_such_function(f32) -> f32\n" + unary("%r = func.call @no_such_function(%x) : (f32) -> f32");
  Result<HostCode> code = build(unknown, "k", trace);
  REQUIRE_FALSE(code);
  CHECK(code.diag().code == Code::kInternal);
  CHECK_MESSAGE(code.diag().what.find("no_such_function") != std::string::npos, code.diag().text());

  code = build(unary("%r = arith.addf %x, %x : f32"), "other", trace);
  REQUIRE_FALSE(code);
  CHECK_MESSAGE(code.diag().what.find("other") != std::string::npos, code.diag().text());

  std::vector<uint8_t> rubbish(100, 7);
  CHECK_FALSE(loadHostObject(rubbish, "k", trace));
}

TEST_CASE("the CPU is described") {
  std::string text = hostCpuText();
  CHECK(text.find("linux") != std::string::npos);
  CHECK(text == hostCpuText());
}
