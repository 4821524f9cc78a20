// nereid doctor
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/doctor.h"
#include "tools/nereid/commands.h"

namespace nereid::tools {
namespace {

int run(bool json) {
  const auto findings = api::examine();
  if (json) {
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const auto& f : findings) j.push_back({{"name", f.name}, {"ok", f.ok}, {"detail", f.detail}, {"fix", f.fix}});
    std::printf("%s\n", j.dump().c_str());
    return 0;
  }
  for (const auto& f : findings) {
    std::printf("%-10s %s  %s\n", f.name.c_str(), f.ok ? "ok     " : "missing", f.detail.c_str());
    if (!f.ok) std::printf("                    %s\n", f.fix.c_str());
  }
  return 0;
}

}  // namespace

void addDoctor(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* c = app.add_subcommand("doctor", "says what of driver, GPU and assembler is there, and what to do about the rest");
  c->add_flag("--json", *json, "one JSON array on stdout");
  c->footer("Example:\n  nereid doctor");
  c->callback([json, &action] { action = [json] { return run(*json); }; });
}

}  // namespace nereid::tools
