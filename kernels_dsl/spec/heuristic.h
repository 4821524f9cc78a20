// The schedule of a problem where no tuned one is known: pure functions of problem and target.
#pragma once
#include <string>

#include "kernels_dsl/spec/case.h"
#include "kernels_dsl/spec/problems/problem.h"
#include "runtime/spec/schedule.h"
#include "runtime/spec/target.h"

namespace nereid::kernels {

// sparse_decode on a GPU: a role that loads rows and a role that computes, heads a block from rows and heads, stages and tokens
// that fit the target's shared memory, splits so that the blocks fill the chip. Other kernels, and the CPU: tiles and no roles.
Schedule chooseSchedule(const Problem& problem, const Target& target);
// The same with narrower copies (tile.align) where a pool's page stride is no multiple of 16. Tensors of a case are aligned
// themselves.
Schedule chooseSchedule(const Call& call, const Target& target);
// From keys, with the hint `rows`. Keys that are no problem of the kernel are usage errors.
Result<Schedule> chooseSchedule(const std::string& kernel, const ProblemFields& fields, const Target& target);

// Bytes of shared memory that a block of sparse_decode needs at least: the ring of gathered rows, q, and what softmax exchanges.
// An estimate that candidates are pruned by; the compiler's figure decides.
int64_t estimateSharedBytes(const SparseDecodeProblem& problem, const Schedule& schedule);

}  // namespace nereid::kernels
