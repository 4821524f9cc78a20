#include "compiler/emulator/block_context.h"

namespace nereid::emulator {

BlockContext::BlockContext(const Program& program_, const EmulatorLaunch& launch_, const EmulatorOptions& options_,
                           int64_t index_)
    : program(program_),
      launch(launch_),
      options(options_),
      index(index_),
      clocks(launch_.threads, program_.has_bulk_copies),
      readers(clocks),
      random(options_.seed * 0xD1342543DE82EF95ull + static_cast<uint64_t>(index_)),
      arrival(static_cast<Arrival>(options_.seed % 3)) {}

FindingPlace BlockContext::place(int thread, uint32_t op) const {
  return {index, thread, program.info[op].name, program.lines[program.info[op].line]};
}

void BlockContext::report(FindingKind kind, int thread, uint32_t op, std::string what, std::vector<FindingPlace> others,
                          uint32_t conflict) {
  auto [at, fresh] = seen_.try_emplace({kind, op, conflict}, findings.size());
  if (!fresh) {
    findings[at->second].count++;
    return;
  }
  findings.push_back({kind, place(thread, op), std::move(what), std::move(others), 1});
  if (static_cast<int>(findings.size()) >= options.max_findings) stopped = true;
}

void BlockContext::reportFatal(FindingKind kind, int thread, uint32_t op, std::string what, std::vector<FindingPlace> others) {
  report(kind, thread, op, std::move(what), std::move(others));
  stopped = true;
}

}  // namespace nereid::emulator
