// A spec's canonical text.
#include "runtime/spec/spec.h"

namespace nereid {

std::string KernelSpec::text() const {
  std::string s = "kernel=" + kernel + "\n";
  for (const auto& [key, value] : problem) s += "problem." + key + "=" + value + "\n";
  s += "schedule=" + schedule.text() + "\n";
  s += "target=" + target.text() + "\n";
  s += "codegen=" + codegen + "\n";
  return s;
}

}  // namespace nereid
