// A spec: kernel + problem class + schedule + target. Its canonical text is the key that artifacts are found by.
#pragma once
#include <map>
#include <string>

#include "runtime/spec/schedule.h"
#include "runtime/spec/target.h"

namespace nereid {

// The problem class of a kernel as canonical key=value pairs (formats: keys of `nereid compile`). Typed forms: kernels_dsl/spec.
using ProblemFields = std::map<std::string, std::string>;

struct KernelSpec {
  std::string kernel;  // "sparse_decode", "combine", …
  ProblemFields problem;
  Schedule schedule;
  Target target;
  std::string codegen = "nvptx";
  std::string text() const;  // canonical, one field a line
};

}  // namespace nereid
