#include "compiler/host/host_code.h"

#include <fmt/format.h>

#include <mutex>

#include "compiler/codegen/llvm_module.h"
#include "compiler/host/host_symbols.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::compiler {
namespace {

namespace orc = llvm::orc;

Diag failure(const std::string& doing, llvm::Error error) {
  return Diag{Code::kInternal, doing + ": " + llvm::toString(std::move(error)), "LLVM",
              "report this with the output of --emit llvm"};
}

Result<orc::JITTargetMachineBuilder> hostMachineBuilder() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder) return failure("detection of this CPU", builder.takeError());
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder->setRelocationModel(llvm::Reloc::PIC_);
  // A small code model reaches 2 GiB; code of one object lies together and calls outside go through stubs.
  builder->setCodeModel(llvm::CodeModel::Small);
  return std::move(*builder);
}

Status defineSymbols(orc::LLJIT& jit) {
  orc::SymbolMap symbols;
  for (const HostSymbol& symbol : hostSymbols()) {
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                 llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  if (auto error = jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))))
    return failure("definition of libm", std::move(error));
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix());
  if (!process) return failure("search in this process", process.takeError());
  jit.getMainJITDylib().addGenerator(std::move(*process));
  return {};
}

}  // namespace

Result<std::vector<uint8_t>> moduleToHostObject(mlir::ModuleOp module, Trace& trace) {
  NEREID_TRY(orc::JITTargetMachineBuilder builder, hostMachineBuilder());
  auto machine = builder.createTargetMachine();
  if (!machine) return failure("creation of the CPU's target machine", machine.takeError());
  llvm::LLVMContext context;
  NEREID_TRY(std::unique_ptr<llvm::Module> llvm_module, translateModule(module, context, **machine, trace));
  // Without these the loop vectoriser assumes a baseline CPU.
  for (llvm::Function& function : *llvm_module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    function.addFnAttr("target-features", (*machine)->getTargetFeatureString());
  }
  NEREID_CHECK_OK(optimise(*llvm_module, **machine, OptimiserPasses::kHost, trace));

  StageTimer timer(trace, "codegen");
  LlvmDiagnostics diagnostics(context);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Diag{Code::kInternal, "LLVM cannot emit objects for this CPU", "LLVM",
                "build against an LLVM with this CPU's back end"};
  passes.run(*llvm_module);
  NEREID_CHECK_OK(diagnostics.status("code generation for this CPU"));
  return std::vector<uint8_t>(object.begin(), object.end());
}

Result<HostCode> loadHostObject(const std::vector<uint8_t>& object, const std::string& symbol, Trace& trace) {
  StageTimer timer(trace, "link");
  NEREID_TRY(orc::JITTargetMachineBuilder builder, hostMachineBuilder());
  // The inactive platform: objects of ours have no constructors or thread-local data.
  auto created =
      orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).setPlatformSetUp(orc::setUpInactivePlatform).create();
  if (!created) return failure("start of the linker", created.takeError());
  std::shared_ptr<orc::LLJIT> jit = std::move(*created);
  // The session tells the cause of a failed lookup (which symbol is missing) to its reporter only, which prints by default.
  auto causes = std::make_shared<std::string>();
  jit->getExecutionSession().setErrorReporter(
      [causes](llvm::Error error) { *causes += (causes->empty() ? "" : "; ") + llvm::toString(std::move(error)); });
  NEREID_CHECK_OK(defineSymbols(*jit));
  llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  if (auto error = jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(bytes, symbol)))
    return failure("object file", std::move(error));
  auto address = jit->lookup(symbol);
  if (!address) {
    Diag diag = failure("link of '" + symbol + "'", address.takeError());
    if (!causes->empty()) diag.what += ": " + *causes;
    return diag;
  }
  return HostCode{jit, address->toPtr<CpuEntry>()};
}

Result<HostCode> compileForHost(mlir::ModuleOp module, const std::string& symbol, Trace& trace) {
  NEREID_TRY(std::vector<uint8_t> object, moduleToHostObject(module, trace));
  return loadHostObject(object, symbol, trace);
}

std::string hostCpuText() {
  Result<orc::JITTargetMachineBuilder> builder = hostMachineBuilder();
  if (!builder) return "unknown";
  return fmt::format("{} {} {}", builder->getTargetTriple().str(), builder->getCPU(), builder->getFeatures().getString());
}

}  // namespace nereid::compiler
