// Text of keys to members and back.
#include "kernels_dsl/spec/problems/field_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace nereid::kernels {
namespace {

bool parseInteger(const std::string& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void FieldBinder::number(const char* key, int64_t& member, int64_t low, int64_t high, Presence presence) {
  add({key, fmt::format("an integer from {} to {}", low, high), presence,
       [&member, low, high](const std::string& text) {
         int64_t value = 0;
         if (!parseInteger(text, value) || value < low || value > high) return false;
         return member = value, true;
       },
       [&member] { return fmt::to_string(member); }});
}

void FieldBinder::flag(const char* key, bool& member) { choice(key, member, {{"0", false}, {"1", true}}); }

void FieldBinder::layout(const char* key, const KvLayout*& member, Presence presence) {
  std::string known;
  for (const KvLayout& l : allLayouts()) known += (known.empty() ? "" : " or ") + l.name;
  add({key, known, presence,
       [&member](const std::string& text) {
         auto found = findLayout(text);
         return found.ok() && (member = *found, true);
       },
       [&member] { return member ? member->name : std::string(); }});
}

void FieldBinder::lse(LseConvention& member) {
  choice("lse_base", member.base, {{"e", LseBase::kE}, {"2", LseBase::k2}});
  flag("lse_sink", member.sink);
  choice("lse_empty", member.empty, {{"-inf", LseEmpty::kMinusInf}, {"+inf", LseEmpty::kPlusInf}});
}

Status FieldBinder::parse(const ProblemFields& fields) const {
  for (const auto& [key, value] : fields)
    if (std::none_of(fields_.begin(), fields_.end(), [&key = key](const Field& f) { return f.key == key; }))
      return error(fmt::format("unknown key '{}'", key), key.c_str(), "accepted: " + accepted());
  for (const Field& f : fields_) {
    const auto given = fields.find(f.key);
    if (given == fields.end()) {
      if (f.presence == Presence::kRequired)
        return error(fmt::format("{} is missing", f.key), f.key.c_str(), fmt::format("pass {}={}", f.key, f.accepted));
    } else if (!f.set(given->second)) {
      return error(fmt::format("{} is '{}'", f.key, given->second), f.key.c_str(), fmt::format("accepted: {}", f.accepted));
    }
  }
  return {};
}

ProblemFields FieldBinder::print() const {
  ProblemFields out;
  for (const Field& f : fields_)
    if (std::string text = f.get(); !text.empty()) out[f.key] = std::move(text);
  return out;
}

std::string FieldBinder::accepted() const {
  std::string text;
  for (const Field& f : fields_) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", f.key, f.accepted);
  return text;
}

Diag FieldBinder::error(std::string what, const char* key, std::string fix) const {
  return Diag{Code::kUsage, std::move(what), fmt::format("{}, key {}", kernel_, key), std::move(fix)};
}

}  // namespace nereid::kernels
