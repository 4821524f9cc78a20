// What a compilation reports beside its result: times of its stages and texts of its intermediate forms.
#pragma once
#include <chrono>
#include <map>
#include <set>
#include <string>

namespace nereid::compiler {

struct Trace {
  std::set<std::string> wanted;              // names of dumps to keep; "*" keeps each
  std::map<std::string, std::string> dumps;  // dump name → text
  std::map<std::string, double> stages_ms;   // stage → milliseconds, summed where a stage runs twice
  bool wants(const std::string& name) const { return wanted.count(name) != 0 || wanted.count("*") != 0; }
};

// Adds the time from construction to destruction to one stage.
class StageTimer {
 public:
  StageTimer(Trace& trace, std::string stage) : trace_(trace), stage_(std::move(stage)), start_(Clock::now()) {}
  ~StageTimer() { trace_.stages_ms[stage_] += std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Trace& trace_;
  std::string stage_;
  Clock::time_point start_;
};

}  // namespace nereid::compiler
