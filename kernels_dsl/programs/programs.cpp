// The registry: from a spec to the program of its kernel.
#include "kernels_dsl/programs/programs.h"

#include "kernels_dsl/spec/launch/arguments.h"

namespace nereid::kernels {
namespace {

using dsl::Builder;
using Body = std::function<void(Builder&)>;

Result<Body> bodyOf(const SparseDecodeProblem& p, const Schedule& s) {
  NEREID_TRY(const SparseDecodeTiles t, sparseDecodeTiles(s));
  return Body([p, t, splits = s.splits](Builder& b) { sparseDecode(b, p, t, splits); });
}

Result<Body> bodyOf(const CombineProblem& p, const Schedule& s) {
  NEREID_TRY(const CombineTiles t, combineTiles(s, p));
  return Body([p, t](Builder& b) { combine(b, p, t); });
}

Result<Body> bodyOf(const GatherDequantProblem& p, const Schedule& s) {
  NEREID_TRY(const GatherDequantTiles t, gatherDequantTiles(s));
  return Body([p, t](Builder& b) { gatherDequant(b, p, t); });
}

Result<Body> bodyOf(const PackKvProblem& p, const Schedule& s) {
  NEREID_TRY(const PackKvTiles t, packKvTiles(s));
  return Body([p, t](Builder& b) { packKv(b, p, t); });
}

Result<Body> bodyOf(const PageSplitProblem& p, const Schedule& s) {
  NEREID_TRY(const PageSplitTiles t, pageSplitTiles(s));
  return Body([p, t](Builder& b) { pageSplit(b, p, t); });
}

Result<Body> bodyOf(const PageMarkProblem& p, const Schedule& s) {
  NEREID_TRY(const PageMarkTiles t, pageMarkTiles(s));
  return Body([p, t](Builder& b) { pageMark(b, p, t); });
}

}  // namespace

Result<dsl::Program> buildProgram(const KernelSpec& spec) {
  NEREID_TRY(const Problem problem, parseProblem(spec.kernel, spec.problem));
  NEREID_TRY(const ArgList args, kernelArgs(problem, spec.schedule));
  NEREID_TRY(const Body body, std::visit([&](const auto& p) { return bodyOf(p, spec.schedule); }, problem));
  return dsl::record(spec.kernel, args, body);
}

}  // namespace nereid::kernels
