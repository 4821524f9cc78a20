// Functions that compiled CPU code may call, by name. A static executable exports none of them, so the table gives their
// addresses.
#pragma once
#include <span>

namespace nereid::compiler {

struct HostSymbol {
  const char* name;
  void* address;
};
std::span<const HostSymbol> hostSymbols();

}  // namespace nereid::compiler
