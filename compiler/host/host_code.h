// CPU code: a module of llvm ops to an object file for this machine, and the object to a function that can be called.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/trace.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/artifact/artifact.h"
#include "runtime/base/result.h"

namespace nereid::compiler {

struct HostCode {
  std::shared_ptr<void> code;  // owns the memory of `entry`; Artifact::host_code
  CpuEntry entry = nullptr;
};

// O3 without unrolling and vectorisation (the loops are in vectors already), for this CPU with all its features. `module`: llvm
// ops only (lowerToHostLlvm), a context with registerCodegenDialects' registrations. Dumps "llvmir", "llvmir.opt"; stages
// "translate", "optimise", "codegen".
Result<std::vector<uint8_t>> moduleToHostObject(mlir::ModuleOp module, Trace& trace);

// Links the object into this process. Each call makes a name space of its own, so that equal symbols of two artifacts do not
// meet. libm, memory functions and the float conversions of host_symbols.h are resolved, then what this process exports. Stage
// "link". Errors: kInternal that names an unresolved or missing symbol.
Result<HostCode> loadHostObject(const std::vector<uint8_t>& object, const std::string& symbol, Trace& trace);

// Both at once. `symbol`: function (ArgSlot* args, i64 block) of the module.
Result<HostCode> compileForHost(mlir::ModuleOp module, const std::string& symbol, Trace& trace);

// "x86_64-pc-linux-gnu znver4 +avx512f,…": what the object depends on beside the module; part of a disk key.
std::string hostCpuText();

}  // namespace nereid::compiler
