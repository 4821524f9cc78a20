#include "compiler/emulator/emulate.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "compiler/emulator/block.h"

namespace nereid::emulator {
namespace {

Status checkLaunch(const Program& program, const EmulatorLaunch& launch, const std::vector<EmulatorBuffer>& buffers) {
  auto usage = [&](std::string what, std::string fix) {
    return Diag{Code::kUsage, std::move(what), "emulation of " + program.symbol, std::move(fix)};
  };
  if (launch.blocks < 0 || launch.blocks > INT32_MAX)
    return usage(fmt::format("a grid has 0 to 2^31-1 blocks, not {}", launch.blocks), "check the launch");
  if (launch.threads < 1 || launch.threads > 1024)
    return usage(fmt::format("a block has 1 to 1024 threads, not {}", launch.threads), "check the launch");
  if (program.max_threads && launch.threads > program.max_threads)
    return usage(fmt::format("{} threads are more than the kernel was built for ({})", launch.threads, program.max_threads),
                 "launch with the artifact's thread count");
  if (launch.dynamic_shared_bytes < 0) return usage("negative shared memory", "check the launch");
  if (launch.args.size() != program.parameters.size())
    return usage(fmt::format("{} arguments for {} parameters", launch.args.size(), program.parameters.size()),
                 "pass one slot a parameter");
  if (buffers.size() > kMaxBuffers) return usage(fmt::format("more than {} buffers", kMaxBuffers), "join buffers");
  for (const EmulatorBuffer& buffer : buffers) {
    if (!buffer.data && buffer.bytes) return usage("buffer '" + buffer.name + "' has no memory", "allocate it");
    if (buffer.bytes >> (kWindowBits - 1))
      return usage("buffer '" + buffer.name + "' is larger than the emulator's windows", "use a smaller one");
  }
  return {};
}

// The values of the parameters; pointers as the kernel's addresses.
std::vector<uint64_t> argumentValues(const Program& program, const EmulatorLaunch& launch, const GlobalMemory& global) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < launch.args.size(); i++) {
    const ArgSlot& slot = launch.args[i];
    switch (program.parameters[i].type) {
      case ArgType::kPointer: values.push_back(global.translate(slot.pointer)); break;
      case ArgType::kI64: values.push_back(static_cast<uint64_t>(slot.i64)); break;
      default: values.push_back(static_cast<uint32_t>(slot.i32)); break;
    }
  }
  return values;
}

void merge(std::vector<Finding>& all, std::vector<Finding> more, int limit) {
  for (Finding& finding : more) {
    bool known = false;
    for (Finding& other : all) {
      if (other.kind != finding.kind || other.place.op != finding.place.op || !(other.place.line == finding.place.line)) continue;
      if (other.others.size() != finding.others.size()) continue;
      bool same = true;
      for (size_t i = 0; i < other.others.size(); i++)
        same &= other.others[i].op == finding.others[i].op && other.others[i].line == finding.others[i].line;
      if (!same) continue;
      other.count += finding.count;
      known = true;
      break;
    }
    if (!known && static_cast<int>(all.size()) < limit) all.push_back(std::move(finding));
  }
}

}  // namespace

std::string EmulationReport::text() const {
  std::string text;
  for (const Finding& finding : findings) text += finding.text() + "\n";
  return text + fmt::format("{} findings in {} blocks, {} warp ops, {:.0f} ms", findings.size(), blocks, warp_ops, milliseconds);
}

Result<EmulationReport> emulate(const Program& program, const EmulatorLaunch& launch, std::vector<EmulatorBuffer> buffers,
                                const EmulatorOptions& options) {
  NEREID_CHECK_OK(checkLaunch(program, launch, buffers));
  const auto start = std::chrono::steady_clock::now();
  GlobalMemory global(std::move(buffers), program.data);
  const std::vector<uint64_t> arguments = argumentValues(program, launch, global);

  EmulationReport report;
  std::map<int64_t, std::vector<Finding>> findings;  // by block, so that the order is always the same
  std::mutex mutex;
  std::atomic<int64_t> next = 0, ran = 0;
  std::atomic<uint64_t> warp_ops = 0;
  std::atomic<bool> enough = false;
  auto work = [&] {
    for (int64_t index; !enough && (index = next++) < launch.blocks;) {
      Block block(program, launch, options, global, arguments, index);
      block.run();
      warp_ops += block.warpOps();
      ran++;
      if (block.context().findings.empty()) continue;
      std::lock_guard lock(mutex);
      findings[index] = std::move(block.context().findings);
      if (static_cast<int>(findings.size()) >= options.max_findings) enough = true;
    }
  };
  int workers = options.workers > 0 ? options.workers : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  workers = static_cast<int>(std::min<int64_t>(workers, launch.blocks));
  std::vector<std::thread> threads;
  for (int i = 1; i < workers; i++) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  for (auto& [index, list] : findings) merge(report.findings, std::move(list), options.max_findings);
  report.blocks = ran;
  report.warp_ops = warp_ops;
  report.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace nereid::emulator
