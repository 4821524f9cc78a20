// The kernels as programs in the DSL. Their arguments and grids: kernels_dsl/spec/launch.
#pragma once
#include "compiler/dsl/dsl.h"
#include "kernels_dsl/spec/launch/tiles.h"
#include "kernels_dsl/spec/problems/problem.h"
#include "runtime/base/result.h"
#include "runtime/spec/spec.h"

namespace nereid::kernels {

// Records the program of a spec. Of the schedule a program sees the tile sizes and the number of splits, of the target nothing.
// Errors: unknown kernels, keys and tile sizes (kUsage).
Result<dsl::Program> buildProgram(const KernelSpec& spec);

// One function a kernel, each the body of a block; it finds its arguments by name in `b` (kernelArgs).
void sparseDecode(dsl::Builder& b, const SparseDecodeProblem& problem, const SparseDecodeTiles& tiles, int splits);
void combine(dsl::Builder& b, const CombineProblem& problem, const CombineTiles& tiles);
void gatherDequant(dsl::Builder& b, const GatherDequantProblem& problem, const GatherDequantTiles& tiles);
void packKv(dsl::Builder& b, const PackKvProblem& problem, const PackKvTiles& tiles);
void pageSplit(dsl::Builder& b, const PageSplitProblem& problem, const PageSplitTiles& tiles);
void pageMark(dsl::Builder& b, const PageMarkProblem& problem, const PageMarkTiles& tiles);

}  // namespace nereid::kernels
