// The subcommands: each registers its flags and, when chosen, runs and returns the exit code.
#pragma once
#include <CLI/CLI.hpp>

#include <functional>

#include "runtime/base/result.h"

namespace nereid::tools {

using Action = std::function<int()>;  // set by the subcommand that was given

void addRun(CLI::App& app, Action& action);
void addCompile(CLI::App& app, Action& action);
void addBench(CLI::App& app, Action& action);
void addDoctor(CLI::App& app, Action& action);

// "nereid: what (where). fix" on stderr; the exit code of the error's kind.
int report(const Diag& diag);

}  // namespace nereid::tools
