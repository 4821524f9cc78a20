// The main of every unit test. A run in which no test case ran fails, and a failing case says how to run only itself.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace {

std::string g_program;
unsigned g_cases_run = 0;

// Counts the cases that ran and prints the command of each failing one.
struct RerunListener : doctest::IReporter {
  const doctest::TestCaseData* current = nullptr;

  explicit RerunListener(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override { g_cases_run = stats.numTestCasesPassingFilters; }
  void test_case_start(const doctest::TestCaseData& data) override { current = &data; }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.failure_flags && current) std::fprintf(stderr, "run only this: %s -tc='%s'\n", g_program.c_str(), current->m_name);
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("rerun", 1, RerunListener);

int main(int argc, char** argv) {
  g_program = argv[0];
  doctest::Context context(argc, argv);
  const int rc = context.run();
  if (context.shouldExit()) return rc;
  if (rc == 0 && g_cases_run == 0) {
    std::fprintf(stderr, "no test case ran: the filter matches none, or this program has none\n");
    return 1;
  }
  return rc;
}
