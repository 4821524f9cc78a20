// `nereid doctor`: what of the environment is there, and what to do about the rest.
#pragma once
#include <string>
#include <vector>

namespace nereid::api {

struct Finding {
  std::string name;
  bool ok = false;
  std::string detail;  // what was found, or what is missing
  std::string fix;     // if not ok
};
// Driver, each GPU, the assembler (nvJitLink or ptxas), this CPU. A machine without a GPU is fine for everything but running on
// one.
std::vector<Finding> examine();

}  // namespace nereid::api
