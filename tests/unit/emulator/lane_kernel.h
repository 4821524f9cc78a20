// Kernels of one warp for tests of single ops: words in, words out.
#pragma once
#include <fmt/format.h>

#include <array>
#include <functional>

#include "tests/unit/emulator/fixtures.h"

namespace nereid::emulator::test {

// A block of `threads` that loads words %a0 … %a{inputs-1} of each thread, runs `body` and stores the words %r0 … %r{outputs-1}.
// In scope too: %in, %out (generic pointers), %s (!llvm.ptr<3>, 16 KiB of shared memory), %tid (i32), constants %c0 … %c4, %c16,
// %c31, %all (-1).
inline std::string laneModule(int inputs, int outputs, const std::string& body, const std::string& extra_globals = "") {
  std::string text = extra_globals +
                     "llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>\n"
                     "llvm.func @k(%in: !llvm.ptr, %out: !llvm.ptr) attributes {nvvm.kernel} {\n"
                     "  %s = llvm.mlir.addressof @smem : !llvm.ptr<3>\n"
                     "  %tid = nvvm.read.ptx.sreg.tid.x : i32\n"
                     "  %all = llvm.mlir.constant(-1 : i32) : i32\n";
  for (int c : {0, 1, 2, 3, 4, 16, 31}) text += fmt::format("  %c{} = llvm.mlir.constant({} : i32) : i32\n", c, c);
  text += fmt::format("  %n_in = llvm.mlir.constant({} : i32) : i32\n  %n_out = llvm.mlir.constant({} : i32) : i32\n", inputs,
                      outputs);
  text += "  %first_in = llvm.mul %tid, %n_in : i32\n  %first_out = llvm.mul %tid, %n_out : i32\n";
  text += "  %p_in = llvm.getelementptr %in[%first_in] : (!llvm.ptr, i32) -> !llvm.ptr, i32\n";
  text += "  %p_out = llvm.getelementptr %out[%first_out] : (!llvm.ptr, i32) -> !llvm.ptr, i32\n";
  for (int i = 0; i < inputs; i++) {
    text += fmt::format(
        "  %pa{0} = llvm.getelementptr %p_in[{0}] : (!llvm.ptr) -> !llvm.ptr, i32\n  %a{0} = llvm.load %pa{0} : !llvm.ptr -> "
        "i32\n",
        i);
  }
  text += body + "\n";
  for (int i = 0; i < outputs; i++) {
    text += fmt::format(
        "  %pr{0} = llvm.getelementptr %p_out[{0}] : (!llvm.ptr) -> !llvm.ptr, i32\n  llvm.store %r{0}, %pr{0} : i32, "
        "!llvm.ptr\n",
        i);
  }
  return text + "  llvm.return\n}\n";
}

struct LaneRun {
  int inputs = 0, outputs = 0, threads = 32;
  std::vector<uint32_t> in, out;
  EmulationReport report;
  uint32_t at(int thread, int output = 0) const { return out[static_cast<size_t>(thread * outputs + output)]; }
  uint32_t given(int thread, int input = 0) const { return in[static_cast<size_t>(thread * inputs + input)]; }
};

// `fill(thread, input)` gives the words. Runs the optimised and the unoptimised module; both must agree and be clean.
inline LaneRun runLanes(int inputs, int outputs, const std::string& body, const std::function<uint32_t(int, int)>& fill,
                        int threads = 32, const std::string& target_name = "sm_120a") {
  LaneRun result{inputs, outputs, threads, {}, {}, {}};
  for (int t = 0; t < threads; t++)
    for (int i = 0; i < inputs; i++) result.in.push_back(fill(t, i));
  if (inputs == 0) result.in.push_back(0);
  std::vector<uint32_t> first;
  for (bool optimise : {false, true}) {
    CAPTURE(optimise);
    result.out.assign(static_cast<size_t>(threads * outputs), 0xDEADBEEF);
    Kernel kernel{loadText(laneModule(inputs, outputs, body), target_name, optimise), threads, 16384};
    result.report =
        run(kernel, 1, {slot(result.in.data()), slot(result.out.data())}, {input(result.in, "in"), output(result.out, "out")});
    CHECK_MESSAGE(result.report.clean(), result.report.text());
    if (!optimise) first = result.out;
  }
  CHECK(first == result.out);
  return result;
}

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace nereid::emulator::test
