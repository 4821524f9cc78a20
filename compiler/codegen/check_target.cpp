#include "compiler/codegen/check_target.h"

#include <fmt/format.h>

#include "compiler/codegen/inline_ptx.h"
#include "compiler/codegen/mlir_diag.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace nereid::compiler {
namespace {

using mlir::Operation;

Diag unsupported(Operation* op, std::string what, std::string fix) {
  return Diag{Code::kUnsupported, std::move(what), locationText(op->getLoc()), std::move(fix)};
}

std::string ptxName(int version) { return fmt::format("PTX {}.{}", version / 10, version % 10); }

Status checkNeeds(Operation* op, const std::string& name, int min_sm, std::string_view only_on, int min_ptx,
                  const Target& target) {
  if (min_sm == 0) {
    return unsupported(op, fmt::format("{} is not supported on {}: no target of Nereid uses it", name, target.name),
                       "use mma.sync and cp.async.bulk, which all targets from sm_90a on share");
  }
  if (!only_on.empty() && (" " + std::string(only_on) + " ").find(" " + target.name + " ") == std::string::npos) {
    return unsupported(op, fmt::format("{} is not supported on {}: it needs one of {}", name, target.name, only_on),
                       "choose such a target, or a schedule that does not use the instruction");
  }
  if (target.sm < min_sm) {
    return unsupported(op, fmt::format("{} is not supported on {}: it needs sm_{} or newer", name, target.name, min_sm),
                       "choose a newer target, or a schedule that does not use the instruction");
  }
  if (target.ptx_version < min_ptx) {
    return unsupported(
        op,
        fmt::format("{} needs {}, but {} is compiled to {}", name, ptxName(min_ptx), target.name, ptxName(target.ptx_version)),
        fmt::format("raise the target's PTX version to {} or more", ptxName(min_ptx)));
  }
  return {};
}

Status checkInlinePtx(Operation* op, std::string_view text, std::string_view constraints, const Target& target) {
  const InlinePtxForm* form = matchInlinePtx(text, constraints);
  if (!form) {
    return unsupported(
        op, fmt::format("inline PTX \"{}\" with constraints \"{}\" is not in the table of inline forms", text, constraints),
        "emit it with emitInlinePtx, or add the form to compiler/codegen/inline_ptx.cpp");
  }
  return checkNeeds(op, fmt::format("inline PTX '{}'", form->name), form->min_sm, "", form->min_ptx, target);
}

Status checkSharedGlobal(mlir::LLVM::GlobalOp global) {
  if (global.getAddrSpace() != 3) return {};
  bool external =
      global.getLinkage() == mlir::LLVM::Linkage::External && !global.getValueOrNull() && !global.getInitializerBlock();
  if (external && global.getAlignment().value_or(0) >= 16) return {};
  return Diag{Code::kInternal,
              fmt::format("shared-memory global '{}' must be external, without initial value, and aligned to at least 16 bytes",
                          global.getSymName().str()),
              locationText(global.getLoc()), "declare one external llvm.mlir.global in address space 3 with alignment 1024"};
}

// Math intrinsics that NVPTX turns into library calls that do not exist on the GPU.
const llvm::StringSet<>& libraryIntrinsics() {
  static const llvm::StringSet<> names = {
      "llvm.intr.exp",  "llvm.intr.exp10", "llvm.intr.log",  "llvm.intr.log10", "llvm.intr.pow",  "llvm.intr.powi",
      "llvm.intr.tan",  "llvm.intr.acos",  "llvm.intr.asin", "llvm.intr.atan",  "llvm.intr.sinh", "llvm.intr.cosh",
      "llvm.intr.tanh", "llvm.intr.atan2", "llvm.intr.sin",  "llvm.intr.cos",   "llvm.intr.exp2", "llvm.intr.log2"};
  return names;
}

Status checkOp(Operation* op, const Target& target) {
  llvm::StringRef name = op->getName().getStringRef();
  if (auto inline_asm = mlir::dyn_cast<mlir::LLVM::InlineAsmOp>(op))
    return checkInlinePtx(op, inline_asm.getAsmString(), inline_asm.getConstraints(), target);
  if (auto inline_ptx = mlir::dyn_cast<mlir::NVVM::InlinePtxOp>(op))
    return checkInlinePtx(op, inline_ptx.getPtxCode(), "", target);
  if (auto global = mlir::dyn_cast<mlir::LLVM::GlobalOp>(op)) return checkSharedGlobal(global);
  if (libraryIntrinsics().contains(name)) {
    return unsupported(op, fmt::format("'{}' has no instruction on {}", name.str(), target.name),
                       "lower it from the math dialect (lower_gpu_math.h), or call the NVVM intrinsic of the approximation");
  }
  auto call = mlir::dyn_cast<mlir::LLVM::CallIntrinsicOp>(op);
  if (call && !call.getIntrin().starts_with("llvm.nvvm.")) return {};
  if (!call && op->getName().getDialectNamespace() != "nvvm") return {};
  const TargetRule* rule = findTargetRule(op);
  std::string shown = call ? "intrinsic '" + call.getIntrin().str() + "'" : "op '" + name.str() + "'";
  if (!rule) {
    return unsupported(op, shown + " is not in the table of checked instructions",
                       "add a row to compiler/codegen/target_rules.cpp and a sample to its test");
  }
  if (*rule->variant) shown += std::string(" ") + rule->variant;
  return checkNeeds(op, shown, rule->min_sm, rule->only_on, rule->min_ptx, target);
}

}  // namespace

Status checkTarget(mlir::ModuleOp module, const Target& target) {
  if (!target.isGpu()) {
    return Diag{Code::kInternal, fmt::format("target '{}' is not a GPU", target.name), "checkTarget",
                "use compileForHost for the CPU"};
  }
  Status status;
  module->walk([&](Operation* op) {
    status = checkOp(op, target);
    return status ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return status;
}

}  // namespace nereid::compiler
