// Schedules as text: "tile.heads=16,stages=3,role.load.warps=4,role.main.dots=qk+pv,grid.qk=1x1x4".
#include "runtime/spec/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace nereid {
namespace {

constexpr const char* kAccepted =
    "tile.NAME, warps, roles, role.NAME.dots, role.NAME.warps, role.NAME.groups, role.NAME.registers, grid.LABEL, stages, copy, "
    "blocks_per_sm, "
    "splits";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

Diag bad(std::string_view key, std::string_view value, std::string_view accepted) {
  return Diag{Code::kUsage, fmt::format("schedule key {} has the value '{}'", key, value), "--schedule",
              fmt::format("accepted: {}", accepted)};
}

Diag unknown(std::string_view key) {
  return Diag{Code::kUsage, fmt::format("unknown schedule key '{}'", key), "--schedule", fmt::format("accepted: {}", kAccepted)};
}

Result<int> number(std::string_view key, std::string_view value, int low, int high) {
  int x = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), x);
  if (error != std::errc() || end != value.data() + value.size() || x < low || x > high)
    return bad(key, value, fmt::format("an integer from {} to {}", low, high));
  return x;
}

const char* copyName(Copy copy) { return copy == Copy::kBulk ? "bulk" : copy == Copy::kAsync ? "async" : "auto"; }

bool isName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

Role* roleIn(Schedule& s, const std::string& name) {
  const auto it = std::find_if(s.roles.begin(), s.roles.end(), [&](const Role& r) { return r.name == name; });
  return it == s.roles.end() ? nullptr : &*it;
}

Role& roleNamed(Schedule& s, const std::string& name) {
  if (Role* role = roleIn(s, name)) return *role;
  s.roles.push_back(Role{.name = name});
  return s.roles.back();
}

Status apply(Schedule& s, const std::string& key, const std::string& value) {
  const auto path = split(key, '.');
  const bool named = std::all_of(path.begin(), path.end(), isName);
  if (!named || path.empty()) return unknown(key);
  if (path.size() == 2 && path[0] == "tile") {
    NEREID_TRY(s.tile[path[1]], number(key, value, 1, 1 << 16));
    return {};
  }
  if (key == "roles") {  // exactly these, in this order; those that the base has keep their values
    const auto names = value == "none" ? std::vector<std::string>() : split(value, '+');
    if (value.empty() || !std::all_of(names.begin(), names.end(), isName)) return bad(key, value, "none, or NAME+NAME+…");
    Schedule chosen;
    for (const std::string& name : names) {
      if (!roleIn(chosen, name)) chosen.roles.push_back(roleNamed(s, name));
    }
    s.roles = std::move(chosen.roles);
    return {};
  }
  if (path.size() == 3 && path[0] == "role") {
    if (path[2] == "dots") {
      const auto dots = value == "none" ? std::vector<std::string>() : split(value, '+');
      if (value.empty() || !std::all_of(dots.begin(), dots.end(), isName)) return bad(key, value, "none, or LABEL+LABEL+…");
      roleNamed(s, path[1]).dots = dots;
      return {};
    }
    if (path[2] == "warps") {
      NEREID_TRY(roleNamed(s, path[1]).warps, number(key, value, 1, 32));
      return {};
    }
    if (path[2] == "groups") {
      NEREID_TRY(roleNamed(s, path[1]).groups, number(key, value, 1, 32));
      return {};
    }
    if (path[2] == "registers") {
      NEREID_TRY(const int registers, number(key, value, 0, 248));
      if (registers % 8 || (registers && registers < 24)) return bad(key, value, "a multiple of 8 from 24 to 248, or 0");
      roleNamed(s, path[1]).registers = registers;
      return {};
    }
  }
  if (path.size() == 2 && path[0] == "grid") {
    const auto dims = split(value, 'x');
    if (dims.size() != 3) return bad(key, value, "MxNxK, warps over rows, columns and the reduction");
    Grid g;
    NEREID_TRY(g.m, number(key, dims[0], 1, 32));
    NEREID_TRY(g.n, number(key, dims[1], 1, 32));
    NEREID_TRY(g.k, number(key, dims[2], 1, 32));
    s.grid[path[1]] = g;
    return {};
  }
  if (key == "copy") {
    for (Copy c : {Copy::kAuto, Copy::kBulk, Copy::kAsync})
      if (value == copyName(c)) return s.copy = c, Status();
    return bad(key, value, "auto, bulk, async");
  }
  struct Field {
    const char* name;
    int Schedule::* member;
    int low, high;
  };
  constexpr Field kFields[] = {{"warps", &Schedule::warps, 1, 32},
                               {"stages", &Schedule::stages, 1, 64},
                               {"blocks_per_sm", &Schedule::blocks_per_sm, 0, 32},
                               {"splits", &Schedule::splits, 1, 1024}};
  for (const Field& f : kFields)
    if (key == f.name) {
      NEREID_TRY(s.*f.member, number(key, value, f.low, f.high));
      return {};
    }
  return unknown(key);
}

}  // namespace

int Schedule::totalWarps() const {
  if (roles.empty()) return warps;
  int total = 0;
  for (const Role& r : roles) total += r.warps;
  return total;
}

std::string Schedule::text() const {
  std::string s;
  auto put = [&](const std::string& key, const std::string& value) {
    s += fmt::format("{}{}={}", s.empty() ? "" : ",", key, value);
  };
  for (const auto& [name, size] : tile) put("tile." + name, fmt::to_string(size));
  if (roles.empty()) put("warps", fmt::to_string(warps));
  for (const Role& r : roles) {
    put(fmt::format("role.{}.warps", r.name), fmt::to_string(r.warps));
    if (r.groups > 1) put(fmt::format("role.{}.groups", r.name), fmt::to_string(r.groups));
    std::string dots;
    for (const std::string& d : r.dots) dots += (dots.empty() ? "" : "+") + d;
    if (!dots.empty()) put(fmt::format("role.{}.dots", r.name), dots);
    if (r.registers) put(fmt::format("role.{}.registers", r.name), fmt::to_string(r.registers));
  }
  for (const auto& [label, g] : grid) put("grid." + label, fmt::format("{}x{}x{}", g.m, g.n, g.k));
  put("stages", fmt::to_string(stages));
  put("copy", copyName(copy));
  put("blocks_per_sm", fmt::to_string(blocks_per_sm));
  put("splits", fmt::to_string(splits));
  return s;
}

Result<Schedule> parseSchedule(std::string_view text, Schedule base) {
  std::set<std::string> given;
  for (const std::string& pair : split(text, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return Diag{Code::kUsage, fmt::format("schedule entry '{}' is no key=value", pair), "--schedule",
                  fmt::format("accepted: {}", kAccepted)};
    if (!given.insert(pair.substr(0, equals)).second)
      return Diag{Code::kUsage, fmt::format("schedule key {} is given twice", pair.substr(0, equals)), "--schedule",
                  "give each key once"};
    NEREID_CHECK_OK(apply(base, pair.substr(0, equals), pair.substr(equals + 1)));
  }
  return base;
}

}  // namespace nereid
