// Names and exit codes of errors.
#include "runtime/base/result.h"

namespace nereid {

const char* codeName(Code code) {
  switch (code) {
    case Code::kUsage: return "usage";
    case Code::kInput: return "input";
    case Code::kUnsupported: return "unsupported";
    case Code::kEnvironment: return "environment";
    case Code::kCheckFailed: return "check failed";
    case Code::kInternal: return "internal";
  }
  return "internal";
}

int exitCode(Code code) {
  switch (code) {
    case Code::kCheckFailed: return 1;
    case Code::kUsage:
    case Code::kInput:
    case Code::kUnsupported: return 2;
    case Code::kEnvironment:
    case Code::kInternal: return 3;
  }
  return 3;
}

std::string Diag::text() const {
  std::string s = what;
  if (!where.empty()) s += " (" + where + ")";
  if (!fix.empty()) s += "; " + fix;
  return s;
}

}  // namespace nereid
