// The plan of a case as launches and buffers.
#include "api/run_case.h"

#include "kernels_dsl/programs/programs.h"
#include "kernels_dsl/spec/heuristic.h"
#include "kernels_dsl/spec/launch/grid.h"
#include "kernels_dsl/spec/launch/plan_call.h"

namespace nereid::api {
namespace {

using kernels::CallPlan;
using kernels::KernelCall;

Result<std::vector<KernelLaunch>> launchesOf(const CallPlan& plan, const Target& target) {
  std::vector<KernelLaunch> launches;
  for (const KernelCall& call : plan.calls) {
    KernelSpec spec{kernels::kernelOf(call.problem), kernels::fieldsOf(call.problem), call.schedule, target, "nvptx"};
    NEREID_TRY(dsl::Program program, kernels::buildProgram(spec));
    NEREID_TRY(const int64_t grid, kernels::gridSize(call.problem, call.schedule, call.size));
    launches.push_back({std::move(spec), std::move(program), grid, call.numbers});
  }
  return launches;
}

std::map<std::string, HostBuffer> buffersOf(CallPlan& plan) {
  std::map<std::string, HostBuffer> buffers;
  for (auto& [name, t] : plan.inputs) buffers[name] = {t.data(), static_cast<size_t>(t.bytes()), false};
  for (auto& [name, t] : plan.outputs) buffers[name] = {t.data(), static_cast<size_t>(t.bytes()), true};
  for (const auto& [name, t] : plan.scratch) {
    size_t bytes = static_cast<size_t>(kernels::dtypeBytes(t.dtype));
    for (int64_t d : t.shape) bytes *= static_cast<size_t>(d);
    buffers[name] = {nullptr, bytes, true};
  }
  return buffers;
}

}  // namespace

Result<RunResult> runCase(const kernels::Case& c, const RunOptions& options) {
  NEREID_TRY(const Target target, targetOf(options.device, options.target, options.limits));
  const std::string kernel = kernels::kernelOf(kernels::problemOf(c.call));
  RunResult result;
  NEREID_TRY(const Schedule schedule, parseSchedule(options.schedule, kernels::chooseSchedule(c.call, target)));
  result.schedule = schedule.text();
  NEREID_TRY(CallPlan plan, kernels::planCall(c.call, {{kernel, schedule}}));
  for (const KernelCall& call : plan.calls) result.kernels.push_back(kernels::kernelOf(call.problem));
  NEREID_TRY(auto launches, launchesOf(plan, target));
  NEREID_TRY(result.time_us, runLaunches(std::move(launches), buffersOf(plan), options));
  result.outputs = std::move(plan.outputs);
  return result;
}

}  // namespace nereid::api
