// A case as kernel launches in order: what is launched, on how many blocks, with which tensors and numbers.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "kernels_dsl/spec/case.h"
#include "kernels_dsl/spec/launch/grid.h"
#include "runtime/spec/abi.h"
#include "runtime/spec/schedule.h"

namespace nereid::kernels {

struct KernelCall {
  Problem problem;
  Schedule schedule;
  CallSize size;
  std::map<std::string, ArgSlot> numbers;  // by argument name (arguments.h); pointers are the plan's tensors of the same name
};

struct CallPlan {
  TensorMap inputs;
  TensorMap outputs;                          // as they are before the first launch
  std::map<std::string, TensorType> scratch;  // written by one kernel and read by a later one; contents before do not matter
  std::vector<KernelCall> calls;              // empty if there is nothing to compute
};

// Schedules by kernel name; a kernel without an entry gets the schedule of tile defaults.
using Schedules = std::map<std::string, Schedule>;

// sparse_decode (and combine, if its schedule has splits), page_mark and page_split, or the case's one kernel.
// Errors (kUnsupported): a pool of 2^31 tokens or more, or strides that no argument can say.
Result<CallPlan> planCall(const Call& call, const Schedules& schedules);

// The slots of a launch of `kernel` in the order of `args`. `pointers` has the address of each tensor by name.
Result<std::vector<ArgSlot>> bindArguments(const ArgList& args, const std::string& kernel,
                                           const std::map<std::string, ArgSlot>& numbers,
                                           const std::map<std::string, void*>& pointers);

}  // namespace nereid::kernels
