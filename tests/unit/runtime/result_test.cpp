// Errors as values.
#include "runtime/base/result.h"

#include <doctest/doctest.h>

#include <memory>

using namespace nereid;

namespace {

Diag bad() {
  return Diag{Code::kInput, "the header says 9 bytes and the file has 4", "case.safetensors", "write the file again"};
}

Result<std::unique_ptr<int>> half(int x) {
  if (x % 2) return bad();
  return std::make_unique<int>(x / 2);
}

Result<int> quarter(int x) {
  NEREID_TRY(auto h, half(x));
  NEREID_TRY(auto q, half(*h));
  return *q;
}

Status even(int x) {
  NEREID_TRY(auto h, half(x));
  return h ? Status() : bad();
}

Status bothEven(int x, int y) {
  NEREID_CHECK_OK(even(x));
  NEREID_CHECK_OK(even(y));
  return {};
}

}  // namespace

TEST_CASE("values and errors go through the macros, values that only move too") {
  CHECK(*quarter(12) == 3);
  for (int x : {3, 6}) {
    const auto q = quarter(x);
    REQUIRE(!q);
    CHECK(q.diag().what == bad().what);
  }
  CHECK(bothEven(2, 4).ok());
  CHECK(!bothEven(2, 5).ok());
  CHECK(!bothEven(1, 4).ok());
}

TEST_CASE("a message says what, where and how to fix, as far as they are known") {
  CHECK(bad().text() == "the header says 9 bytes and the file has 4 (case.safetensors); write the file again");
  CHECK(Diag{Code::kInternal, "what", "", ""}.text() == "what");
  CHECK(Diag{Code::kInternal, "what", "", "fix"}.text() == "what; fix");
}

TEST_CASE("exit codes: a failed check 1, usage and input 2, environment and defects 3") {
  CHECK(exitCode(Code::kCheckFailed) == 1);
  for (Code c : {Code::kUsage, Code::kInput, Code::kUnsupported}) CHECK(exitCode(c) == 2);
  for (Code c : {Code::kEnvironment, Code::kInternal}) CHECK(exitCode(c) == 3);
  CHECK(std::string(codeName(Code::kInput)) == "input");
}
