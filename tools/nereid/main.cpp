// The nereid command: argument parsing only; the work is in api/.
#include <cstdio>

#include "tools/nereid/commands.h"

namespace nereid::tools {

int report(const Diag& diag) {
  std::string text = "nereid: " + diag.what;
  if (!diag.where.empty()) text += " (" + diag.where + ")";
  text += ". " + diag.fix + "\n";
  std::fputs(text.c_str(), stderr);
  return exitCode(diag.code);
}

}  // namespace nereid::tools

int main(int argc, char** argv) {
  using namespace nereid;
  CLI::App app{"Nereid: generated kernels for sparse MLA decoding over paged FP8 KV caches", "nereid"};
  app.set_version_flag("--version", "nereid 0.1.0");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 a check failed, 2 wrong usage or input, 3 the environment lacks something.\n"
      "`nereid COMMAND --help` has the flags and examples of a command.");
  tools::Action action;
  tools::addRun(app, action);
  tools::addCompile(app, action);
  tools::addBench(app, action);
  tools::addDoctor(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string what = e.what();
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) what = std::string("unknown command '") + argv[1] + "'";
    return tools::report({Code::kUsage, what, "command line",
                          "commands are run, compile, bench, doctor; nereid --help and nereid COMMAND --help say more"});
  }
  return action();
}
