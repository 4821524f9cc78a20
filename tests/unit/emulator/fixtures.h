// Shared by the tests of the emulator: recorded kernels and MLIR text to programs, buffers, launches.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/dialects.h"
#include "compiler/codegen/lower_to_llvm.h"
#include "compiler/codegen/mlir_diag.h"
#include "compiler/dsl/dsl_impl.h"
#include "compiler/emulator/emulate.h"
#include "compiler/emulator/load_program.h"
#include "compiler/pipeline/tile_to_gpu.h"
#include "mlir/Parser/Parser.h"
#include "runtime/spec/target.h"

namespace nereid::emulator::test {

inline Target target(const std::string& name) {
  Result<Target> found = findTarget(name);
  REQUIRE_MESSAGE(found.ok(), name);
  return *found;
}

// A module in a context of its own, from text.
struct TextModule {
  mlir::DialectRegistry registry;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit TextModule(const std::string& text) {
    compiler::registerCodegenDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    compiler::DiagCollector collector(context.get());
    module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get(), "kernel.mlir");
    REQUIRE_MESSAGE(module, collector.diag(Code::kInput, "parse", "").text());
  }
};

struct Kernel {
  std::shared_ptr<const Program> program;
  int threads = 32, shared_bytes = 0;
};

inline Result<std::shared_ptr<const Program>> tryLoadText(const std::string& text, const std::string& target_name = "sm_120a",
                                                          bool optimise = true) {
  TextModule parsed(text);
  compiler::Trace trace;
  NEREID_CHECK_OK(compiler::lowerToLlvmDialect(*parsed.module, trace));
  return loadProgram(*parsed.module, target(target_name), "", trace, {.optimise = optimise});
}

inline std::shared_ptr<const Program> loadText(const std::string& text, const std::string& target_name = "sm_120a",
                                               bool optimise = true) {
  auto program = tryLoadText(text, target_name, optimise);
  REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.diag().text()));
  return *program;
}

// A recorded program, lowered for a target. `edit` may change the module (llvm and nvvm ops) before it is loaded.
inline Kernel lower(dsl::Program& program, const Schedule& schedule, const std::string& target_name, bool optimise = true,
                    const std::function<void(mlir::ModuleOp)>& edit = nullptr) {
  compiler::Trace trace;
  auto& impl = program.impl();
  mlir::DialectRegistry registry;
  compiler::registerCodegenDialects(registry);
  impl.context->appendDialectRegistry(registry);
  auto shape = compiler::lowerTileToGpu(*impl.module, schedule, target(target_name), trace);
  REQUIRE_MESSAGE(shape.ok(), (shape.ok() ? "" : shape.diag().text()));
  Status lowered = compiler::lowerToLlvmDialect(*impl.module, trace);
  REQUIRE_MESSAGE(lowered.ok(), (lowered.ok() ? "" : lowered.diag().text()));
  if (edit) edit(*impl.module);
  auto loaded = loadProgram(*impl.module, target(target_name), "", trace, {.optimise = optimise});
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.diag().text()));
  return {*loaded, shape->threads, shape->shared_bytes};
}

inline ArgSlot slot(void* pointer) {
  ArgSlot s{};
  s.pointer = pointer;
  return s;
}
inline ArgSlot slot(int32_t value) {
  ArgSlot s{};
  s.i32 = value;
  return s;
}
inline ArgSlot slot(int64_t value) {
  ArgSlot s{};
  s.i64 = value;
  return s;
}
inline ArgSlot slot(float value) {
  ArgSlot s{};
  s.f32 = value;
  return s;
}

template <typename T>
EmulatorBuffer input(std::vector<T>& data, const char* name) {
  return {data.data(), data.size() * sizeof(T), false, name, true};
}
template <typename T>
EmulatorBuffer output(std::vector<T>& data, const char* name) {
  return {data.data(), data.size() * sizeof(T), true, name, true};
}

inline EmulationReport run(const Kernel& kernel, int64_t blocks, std::vector<ArgSlot> args, std::vector<EmulatorBuffer> buffers,
                           EmulatorOptions options = {}) {
  EmulatorLaunch launch{blocks, kernel.threads, kernel.shared_bytes, std::move(args)};
  auto report = emulate(*kernel.program, launch, std::move(buffers), options);
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.diag().text()));
  return *report;
}

inline bool finds(const EmulationReport& report, FindingKind kind) {
  for (const Finding& finding : report.findings) {
    if (finding.kind == kind) return true;
  }
  return false;
}

// A generator whose numbers do not depend on the standard library.
struct Numbers {
  uint64_t state;
  explicit Numbers(uint64_t seed) : state(seed) {}
  uint32_t bits() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state >> 33);
  }
  float unit() { return static_cast<float>(static_cast<double>(bits()) / 2147483648.0 * 2 - 1); }  // [-1, 1)
  int below(int bound) { return static_cast<int>(bits() % static_cast<uint32_t>(bound)); }
};

inline float fromBF16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
inline uint16_t toBF16(float value) {  // nearest even; finite values
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace nereid::emulator::test
