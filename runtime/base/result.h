// Errors as values. Everything in Nereid that can fail returns Result<T>; nothing throws across a layer, exits or aborts.
#pragma once
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace nereid {

// What kind of failure it is; decides the exit code of the command line (usage and input 2, environment 3, check 1).
enum class Code {
  kUsage,        // wrong flag, key or argument
  kInput,        // a file or tensor that is not what it claims to be
  kUnsupported,  // a valid request that this target or build cannot serve
  kEnvironment,  // a library, driver, device or permission is missing
  kCheckFailed,  // a result outside its limit
  kInternal,     // a defect of Nereid
};
const char* codeName(Code code);
int exitCode(Code code);  // 1, 2 or 3; kInternal is 3

// One error: what happened, where (file, key, op, line), and what the caller can do.
struct Diag {
  Code code = Code::kInternal;
  std::string what, where, fix;
  std::string text() const;  // "what (where). fix"
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Diag diag) : state_(std::in_place_index<1>, std::move(diag)) {}
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() {
    assert(ok());
    return std::get<0>(state_);
  }
  const T& operator*() const {
    assert(ok());
    return std::get<0>(state_);
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Diag& diag() const {
    assert(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Diag> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Diag diag) : diag_(std::move(diag)) {}
  bool ok() const { return !diag_; }
  explicit operator bool() const { return ok(); }
  const Diag& diag() const {
    assert(diag_);
    return *diag_;
  }

 private:
  std::optional<Diag> diag_;
};
using Status = Result<void>;

}  // namespace nereid

// NEREID_TRY(auto x, f()) binds the value or returns the error; NEREID_CHECK_OK(f()) returns the error.
#define NEREID_CONCAT2(a, b) a##b
#define NEREID_CONCAT(a, b) NEREID_CONCAT2(a, b)
#define NEREID_TRY_(tmp, decl, expr) \
  auto tmp = (expr);                 \
  if (!tmp) return tmp.diag();       \
  decl = std::move(*tmp)
#define NEREID_TRY(decl, expr) NEREID_TRY_(NEREID_CONCAT(nereid_try_, __LINE__), decl, expr)
#define NEREID_CHECK_OK(expr)                         \
  do {                                                \
    if (auto s_ = (expr); !s_.ok()) return s_.diag(); \
  } while (0)
