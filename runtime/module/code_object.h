// A code object: an artifact loaded in one context of one device, ready to launch.
#pragma once
#include <memory>
#include <string>

#include "runtime/artifact/artifact.h"
#include "runtime/driver/context.h"

namespace nereid {

// Owns the loaded module and unloads it at the end; keeps its context alive. Moves, does not copy. Threads may launch it at once:
// nothing in it changes after load.
class CodeObject {
 public:
  // Loads the cubin (or, without one, the PTX through the driver's compiler) and finds the entry. The limit of dynamic shared
  // memory is set here, once, to all that the device permits: a launch then never touches an attribute that another thread relies
  // on. Refuses by name: code for another chip, more shared memory or threads than the device has. Loads nothing then.
  static Result<CodeObject> load(std::shared_ptr<const cuda::Context> context, const Artifact& artifact);
  CodeObject(CodeObject&& other) noexcept;
  CodeObject& operator=(CodeObject&& other) noexcept;
  ~CodeObject();

  const cuda::Context& context() const { return *context_; }
  cuda::FunctionHandle function() const { return function_; }
  const std::string& symbol() const { return symbol_; }
  const ArgList& args() const { return args_; }
  int threads() const { return threads_; }                    // a block
  int dynamicSharedBytes() const { return dynamic_shared_; }  // what the artifact asks for
  int maxDynamicSharedBytes() const { return max_dynamic_shared_; }
  int staticSharedBytes() const { return static_shared_; }
  int registers() const { return registers_; }  // a thread, as loaded
  int localBytes() const { return local_; }     // stack and spills, a thread
  // Blocks that fit on an SM at once with this much dynamic shared memory.
  Result<int> blocksPerSm(int dynamic_shared) const;

 private:
  CodeObject() = default;
  Status prepare(const Artifact& artifact);
  std::shared_ptr<const cuda::Context> context_;
  cuda::ModuleHandle module_ = nullptr;
  cuda::FunctionHandle function_ = nullptr;
  std::string symbol_;
  ArgList args_;
  int threads_ = 0, dynamic_shared_ = 0, max_dynamic_shared_ = 0, static_shared_ = 0, registers_ = 0, local_ = 0;
};

}  // namespace nereid
