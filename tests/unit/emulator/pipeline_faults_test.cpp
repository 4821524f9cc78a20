// Faults planted into the lowered modules of recorded kernels: what a defect of the compiler would do. Each must be found as a
// finding, or as a wrong result where the fault is one of values; a finding names a line of the C++ source that recorded the
// kernel.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tests/unit/emulator/recorded_kernels.h"

using namespace nereid;
using namespace nereid::emulator;
using namespace nereid::emulator::test;

namespace {

using Edit = std::function<void(mlir::ModuleOp)>;

template <typename Op>
std::vector<Op> all(mlir::ModuleOp module) {
  std::vector<Op> ops;
  module->walk([&](Op op) { ops.push_back(op); });
  return ops;
}

// Erases the i-th op of its kind, or each (-1); results become 0.
template <typename Op>
Edit without(int which = -1) {
  return [which](mlir::ModuleOp module) {
    auto ops = all<Op>(module);
    REQUIRE(static_cast<int>(ops.size()) > which);
    REQUIRE(!ops.empty());
    for (int i = 0; i < static_cast<int>(ops.size()); i++) {
      if (which >= 0 && i != which) continue;
      mlir::Operation* op = ops[static_cast<size_t>(i)];
      mlir::OpBuilder b(op);
      for (mlir::Value result : op->getResults()) {
        if (!result.use_empty()) result.replaceAllUsesWith(mlir::LLVM::ZeroOp::create(b, op->getLoc(), result.getType()));
      }
      op->erase();
    }
  };
}

// Replaces an operand by itself plus a constant.
template <typename Op>
Edit shifted(unsigned operand, int by, int which = -1) {
  return [=](mlir::ModuleOp module) {
    auto ops = all<Op>(module);
    REQUIRE(!ops.empty());
    for (int i = 0; i < static_cast<int>(ops.size()); i++) {
      if (which >= 0 && i != which) continue;
      mlir::Operation* op = ops[static_cast<size_t>(i)];
      mlir::OpBuilder b(op);
      mlir::Value value = op->getOperand(operand);
      if (mlir::isa<mlir::LLVM::LLVMPointerType>(value.getType())) {
        value = mlir::LLVM::GEPOp::create(b, op->getLoc(), value.getType(), b.getI8Type(), value,
                                          llvm::ArrayRef<mlir::LLVM::GEPArg>{by});
      } else {
        mlir::Value constant = mlir::LLVM::ConstantOp::create(b, op->getLoc(), value.getType(), by);
        value = mlir::LLVM::AddOp::create(b, op->getLoc(), value, constant);
      }
      op->setOperand(operand, value);
    }
  };
}

// The waits of a kernel with channels: `try_wait` or `test_wait` with parity.
Edit parityTurned(int which) {
  return [which](mlir::ModuleOp module) {
    auto ops = all<mlir::NVVM::MBarrierTryWaitOp>(module);
    REQUIRE(static_cast<int>(ops.size()) > which);
    mlir::Operation* op = ops[static_cast<size_t>(which)];
    mlir::OpBuilder b(op);
    mlir::Value one = mlir::LLVM::ConstantOp::create(b, op->getLoc(), op->getOperand(1).getType(), 1);
    op->setOperand(1, mlir::LLVM::XOrOp::create(b, op->getLoc(), op->getOperand(1), one));
  };
}

// Moves an op, and what it needs, up to another op of its block.
void hoist(mlir::Operation* op, mlir::Operation* before) {
  if (op->getBlock() != before->getBlock() || op->isBeforeInBlock(before)) return;
  for (mlir::Value operand : op->getOperands()) {
    if (mlir::Operation* source = operand.getDefiningOp()) hoist(source, before);
  }
  op->moveBefore(before);
}

template <typename Case>
void checkFound(Copy copy, int stages, const Edit& edit, std::initializer_list<FindingKind> kinds,
                bool wrong_result_counts = false) {
  dsl::Program program = Case::record();
  const Kernel kernel = lower(program, Case::schedule(copy, stages), "sm_120a", true, edit);
  Case data;
  std::string texts;
  bool wrong = false;
  for (uint64_t seed = 0; seed < 6; seed++) {
    const EmulationReport report = data.run(kernel, {.seed = seed});
    texts += report.text() + "\n";
    wrong |= data.wrong() != 0;
    for (const Finding& finding : report.findings) {
      for (FindingKind kind : kinds) {
        if (finding.kind != kind) continue;
        bool names_source = finding.place.line.file.find("recorded_kernels.h") != std::string::npos;
        for (const FindingPlace& other : finding.others)
          names_source |= other.line.file.find("recorded_kernels.h") != std::string::npos;
        CHECK_MESSAGE(names_source, finding.text());
        return;
      }
    }
  }
  if (wrong_result_counts && wrong) return;
  FAIL("not found: ", texts);
}

using enum FindingKind;
namespace nvvm = mlir::NVVM;

}  // namespace

TEST_CASE("GEMM with cp.async") {
  const auto check = [](const Edit& edit, std::initializer_list<FindingKind> kinds, bool wrong = false) {
    checkFound<Gemm>(Copy::kAsync, 3, edit, kinds, wrong);
  };
  SUBCASE("the barrier after the initialisation is missing") { check(without<nvvm::BarrierOp>(0), {kMbarrier, kRace}); }
  SUBCASE("the consumer releases before it has read") {
    check(
        [](mlir::ModuleOp module) {
          auto arrivals = all<nvvm::MBarrierArriveOp>(module);
          for (auto read : all<nvvm::LdMatrixOp>(module)) {
            const auto release = llvm::find_if(arrivals, [&](auto a) { return a->getBlock() == read->getBlock(); });
            if (release == arrivals.end()) continue;
            hoist(*release, read);
            return;
          }
          FAIL("no release stands after a read");
        },
        {kRace, kPendingCopy});
  }
  SUBCASE("copies do not arrive on their mbarrier") { check(without<nvvm::CpAsyncMBarrierArriveOp>(), {kDeadlock}); }
  SUBCASE("the consumer waits for the wrong phase") { check(parityTurned(1), {kPendingCopy, kUninitialised, kRace, kDeadlock}); }
  SUBCASE("the producer waits for the wrong phase") { check(parityTurned(0), {kDeadlock, kPendingCopy, kRace}); }
  SUBCASE("the consumer does not release") { check(without<nvvm::MBarrierArriveOp>(1), {kDeadlock}); }
  SUBCASE("a barrier counts one arrival less") {
    check(shifted<nvvm::MBarrierInitOp>(1, -1), {kMbarrier, kPendingCopy, kRace, kDeadlock});
  }
  SUBCASE("rows are copied one place too far") {
    check(shifted<nvvm::CpAsyncOp>(0, 16), {kPendingCopy, kRace, kUninitialised, kMbarrier}, true);
  }
  SUBCASE("ldmatrix reads from the next row") {
    check(shifted<nvvm::LdMatrixOp>(0, 144), {kUninitialised, kRace, kPendingCopy, kOutOfBounds}, true);
  }
  SUBCASE("ldmatrix reads from an odd place") { check(shifted<nvvm::LdMatrixOp>(0, 8), {kMisaligned}); }
  SUBCASE("fragments of a product are exchanged") {
    check(
        [](mlir::ModuleOp module) {
          for (auto op : all<nvvm::MmaOp>(module)) {
            mlir::Value first = op->getOperand(0);
            op->setOperand(0, op->getOperand(1));
            op->setOperand(1, first);
          }
        },
        {}, true);
  }
  SUBCASE("the tail is not masked") {
    check(
        [](mlir::ModuleOp module) {
          // Stores of the result lose their condition: branches into their blocks become unconditional.
          for (auto store : all<mlir::LLVM::StoreOp>(module)) {
            mlir::Block* block = store->getBlock();
            for (mlir::Block* from : llvm::to_vector(block->getPredecessors())) {
              auto branch = mlir::dyn_cast<mlir::LLVM::CondBrOp>(from->getTerminator());
              if (!branch || branch.getTrueDest() != block) continue;
              mlir::OpBuilder b(branch);
              mlir::LLVM::BrOp::create(b, branch.getLoc(), branch.getTrueDestOperands(), block);
              branch.erase();
            }
          }
        },
        {kOutOfBounds, kRace}, true);
  }
}

TEST_CASE("gather of fp8 rows with bulk copies") {
  const auto check = [](const Edit& edit, std::initializer_list<FindingKind> kinds, bool wrong = false) {
    checkFound<GatherScores>(Copy::kBulk, 2, edit, kinds, wrong);
  };
  SUBCASE("no proxy fence after a row is zeroed") { check(without<nvvm::FenceProxyOp>(), {kMissingProxyFence}); }
  SUBCASE("no fence after the initialisation") { check(without<nvvm::FenceMbarrierInitOp>(), {kMissingProxyFence}); }
  SUBCASE("a copy past its row") {
    check(shifted<nvvm::CpAsyncBulkGlobalToSharedClusterOp>(3, 32), {kPendingCopy, kRace, kMbarrier, kOutOfBounds});
  }
  SUBCASE("the bytes are not announced") { check(without<nvvm::MBarrierArriveExpectTxOp>(), {kDeadlock}); }
  SUBCASE("fewer bytes are announced") {
    check(shifted<nvvm::MBarrierArriveExpectTxOp>(1, -128), {kMbarrier, kDeadlock, kPendingCopy});
  }
  SUBCASE("a byte too much is announced") { check(shifted<nvvm::MBarrierArriveExpectTxOp>(1, 16), {kDeadlock}); }
  SUBCASE("masked rows are not zeroed") {
    check(
        [](mlir::ModuleOp module) {
          for (auto store : all<mlir::LLVM::StoreOp>(module))
            if (mlir::isa<mlir::VectorType>(store.getValue().getType()) &&
                mlir::cast<mlir::LLVM::LLVMPointerType>(store.getAddr().getType()).getAddressSpace() == 3)
              store.erase();
        },
        {kUninitialised}, true);
  }
  SUBCASE("a lane's copy goes to its neighbour's row") {
    check(shifted<nvvm::CpAsyncBulkGlobalToSharedClusterOp>(0, 144),
          {kRace, kPendingCopy, kUninitialised, kMbarrier, kOutOfBounds}, true);
  }
}
