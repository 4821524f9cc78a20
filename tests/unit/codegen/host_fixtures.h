// Shared by the tests of CPU code: build an entry from text, call it on one value.
#pragma once
#include <doctest/doctest.h>

#include "compiler/host/host_code.h"
#include "compiler/host/lower_to_host_llvm.h"
#include "tests/unit/codegen/fixtures.h"

namespace nereid::compiler::test {

inline Result<HostCode> build(const std::string& text, const std::string& symbol, Trace& trace) {
  Parsed parsed(text);
  if (!parsed.module) return Diag{Code::kInput, parsed.error, "", ""};
  NEREID_CHECK_OK(lowerToHostLlvm(*parsed, trace));
  return compileForHost(*parsed, symbol, trace);
}

inline HostCode buildOrFail(const std::string& text, const std::string& symbol) {
  Trace trace;
  Result<HostCode> code = build(text, symbol, trace);
  INFO((code ? "" : code.diag().text()));
  REQUIRE(code);
  return *code;
}

// An entry @k that loads %x of `from` at slot 0's pointer, runs `body` to %r and stores it as `to` at slot 1's pointer.
inline std::string unary(const std::string& body, const std::string& from = "f32", const std::string& to = "f32") {
  return "func.func @k(%args: !llvm.ptr, %block: i64) {\n"
         "  %in = llvm.load %args : !llvm.ptr -> !llvm.ptr\n"
         "  %slot = llvm.getelementptr %args[8] : (!llvm.ptr) -> !llvm.ptr, i8\n"
         "  %out = llvm.load %slot : !llvm.ptr -> !llvm.ptr\n"
         "  %x = llvm.load %in : !llvm.ptr -> " +
         from + "\n  " + body + "\n  llvm.store %r, %out : " + to + ", !llvm.ptr\n  return\n}\n";
}

template <typename To, typename From>
To call(const HostCode& code, From in) {
  To out{};
  ArgSlot args[2];
  args[0].pointer = &in;
  args[1].pointer = &out;
  code.entry(args, 0);
  return out;
}

}  // namespace nereid::compiler::test
