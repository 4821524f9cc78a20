// libnvJitLink, opened at run time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "compiler/assembler/assemble.h"

namespace nereid::compiler {

struct NvJitLinkSymbols {
#define X(result, name, parameters) result(*name) parameters = nullptr;
#include "compiler/assembler/nvjitlink_symbols.def"
#undef X
};

class NvJitLink {
 public:
  // One library stays open for each folder it was found in; kEnvironment where it or a symbol of it is missing.
  static Result<std::shared_ptr<const NvJitLink>> open(const std::string& cuda_home);
  // For tests: over given functions.
  explicit NvJitLink(NvJitLinkSymbols symbols, std::string version) : symbols_(symbols), version_(std::move(version)) {}

  Result<Assembled> assemble(const std::string& ptx, const Target& target) const;
  const std::string& version() const { return version_; }  // "nvJitLink 13.0"

 private:
  NvJitLinkSymbols symbols_;
  std::string version_;
};

}  // namespace nereid::compiler
