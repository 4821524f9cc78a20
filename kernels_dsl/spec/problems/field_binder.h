// Binds the members of a problem to their keys once; parsing, printing and the list of what is accepted all come from the
// binding.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels_dsl/spec/kv_layout.h"
#include "kernels_dsl/spec/problems/conventions.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

enum class Presence { kOptional, kRequired };

class FieldBinder {
 public:
  explicit FieldBinder(const char* kernel) : kernel_(kernel) {}

  void number(const char* key, int64_t& member, int64_t low, int64_t high, Presence presence = Presence::kOptional);
  void flag(const char* key, bool& member);
  // A member that stays null prints nothing.
  void layout(const char* key, const KvLayout*& member, Presence presence = Presence::kOptional);
  template <typename E>
  void choice(const char* key, E& member, std::initializer_list<std::pair<const char*, E>> names) {
    std::vector<std::pair<std::string, E>> table(names.begin(), names.end());
    std::string accepted;
    for (const auto& [name, value] : table) accepted += (accepted.empty() ? "" : " or ") + name;
    add({key, accepted, Presence::kOptional,
         [&member, table](const std::string& text) {
           for (const auto& [name, value] : table)
             if (text == name) return member = value, true;
           return false;
         },
         [&member, table] {
           for (const auto& [name, value] : table)
             if (member == value) return name;
           return std::string();
         }});
  }
  void index(const char* key, IndexType& member) { choice(key, member, {{"i32", IndexType::kI32}, {"i64", IndexType::kI64}}); }
  void lse(LseConvention& member);

  // Sets the members. Unknown keys, missing required ones and values that are not accepted are usage errors that say what is.
  Status parse(const ProblemFields& fields) const;
  // Every bound key with its member's value.
  ProblemFields print() const;
  // "layout (MODEL1 or V32 or BF16), topk (an integer from 1 to 16777216), …"
  std::string accepted() const;
  // A usage error about a key of this kernel.
  Diag error(std::string what, const char* key, std::string fix) const;

 private:
  struct Field {
    std::string key, accepted;
    Presence presence;
    std::function<bool(const std::string&)> set;
    std::function<std::string()> get;
  };
  void add(Field field) { fields_.push_back(std::move(field)); }

  std::string kernel_;
  std::vector<Field> fields_;
};

}  // namespace nereid::kernels
