// PTX to cubin: the program ptxas, else libnvJitLink in this process, else a linker that the caller brings (the driver's).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/artifact/artifact.h"
#include "runtime/base/result.h"
#include "runtime/spec/target.h"

namespace nereid::compiler {

struct Assembled {
  std::vector<uint8_t> cubin;
  Resources resources;                // maximum over the module's kernels
  std::string assembler;              // "nvJitLink 13.0", "ptxas 13.0.88": part of the disk key
  std::string log;                    // what the assembler said
  std::vector<std::string> warnings;  // the log's warnings; one that costs speed is worth an error to a caller
};

using DriverLinker = std::function<Result<Assembled>(const std::string& ptx, const Target& target)>;

enum class AssemblerRoute { kAuto, kPtxas, kNvJitLink, kDriver };  // kAuto: the first of the three that is there

struct AssembleOptions {
  std::string cuda_home;  // "": $NEREID_CUDA_HOME, the build's cuda folder, /usr/local/cuda, the loader's path
  AssemblerRoute route = AssemblerRoute::kAuto;
  DriverLinker driver;  // empty: no third route
};

// Thread-safe. Errors: kEnvironment where no assembler is found (names what was looked for and what to install), kInternal with
// the assembler's log where it rejects the PTX. Resources of the log are filled in, instruction counts too.
Result<Assembled> assemble(const std::string& ptx, const Target& target, const AssembleOptions& options = {});

// Name and version of the assembler that `assemble` would use.
Result<std::string> assemblerVersion(const AssembleOptions& options = {});

}  // namespace nereid::compiler
