#include "compiler/assembler/assembler_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace nereid::compiler {
namespace {

// The number in front of `unit` ("128 registers"), -1 where the line has none.
int numberBefore(std::string_view line, std::string_view unit) {
  size_t at = line.find(unit);
  if (at == std::string_view::npos) return -1;
  size_t end = line.find_last_not_of(' ', at == 0 ? 0 : at - 1);
  size_t begin = end;
  while (begin != std::string_view::npos && begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) begin--;
  int value = -1;
  if (end != std::string_view::npos) std::from_chars(line.data() + begin, line.data() + end + 1, value);
  return value;
}

void raise(int& field, int value) { field = std::max(field, value); }

struct InstructionClass {
  const char* name;
  const char* prefix;    // of the opcode
  const char* contains;  // and somewhere in the opcode; "" always
};
// The first match counts.
constexpr InstructionClass kClasses[] = {
    {"mma", "mma.", ""},
    {"ldmatrix", "ldmatrix", ""},
    {"stmatrix", "stmatrix", ""},
    {"cp.async.bulk", "cp.async.bulk.commit", "-"},  // groups and waits are no copies
    {"cp.async.bulk", "cp.async.bulk.wait", "-"},
    {"cp.async.bulk", "cp.async.bulk.", ""},
    {"cp.async", "cp.async.ca.", ""},
    {"cp.async", "cp.async.cg.", ""},
    {"mbarrier", "cp.async.mbarrier", ""},
    {"mbarrier", "mbarrier.", ""},
    {"bar", "bar.", ""},
    {"bar", "barrier.", ""},
    {"ex2", "ex2.", ""},
    {"cvt.e4m3", "cvt.", "e4m3"},
    {"ld.global", "ld.", "global"},
    {"st.global", "st.", "global"},
    {"ld.shared", "ld.", "shared"},
    {"st.shared", "st.", "shared"},
    {"ld.local", "ld.", "local"},
    {"st.local", "st.", "local"},
    {"shfl", "shfl.", ""},
    {"red", "red.", ""},
};

}  // namespace

Resources parseResources(std::string_view log) {
  Resources resources;
  while (!log.empty()) {
    size_t end = log.find('\n');
    std::string_view line = log.substr(0, end);
    log = end == std::string_view::npos ? std::string_view() : log.substr(end + 1);
    int stores = numberBefore(line, "bytes spill stores"), loads = numberBefore(line, "bytes spill loads");
    if (stores >= 0 && loads >= 0) raise(resources.spill_bytes, stores + loads);
    raise(resources.stack_bytes, numberBefore(line, "bytes stack frame"));
    // "Used 12 registers, used 1 barriers, 1024 bytes smem"; a kernel without static shared memory has no smem entry. nvJitLink
    // repeats the line without the capital after its own link step, on sm_90 with the 1 KiB that the system takes: not the
    // kernel's.
    if (line.find("Used ") == std::string_view::npos) continue;
    raise(resources.registers, numberBefore(line, "registers"));
    raise(resources.shared_bytes, std::max(0, numberBefore(line, "bytes smem")));
  }
  return resources;
}

std::vector<std::string> parseWarnings(std::string_view log) {
  std::vector<std::string> warnings;
  while (!log.empty()) {
    size_t end = log.find('\n');
    std::string_view line = log.substr(0, end);
    log = end == std::string_view::npos ? std::string_view() : log.substr(end + 1);
    if (line.find("warning") != std::string_view::npos) warnings.emplace_back(line);
  }
  return warnings;
}

std::map<std::string, int> countInstructions(std::string_view ptx) {
  std::map<std::string, int> counts;
  while (!ptx.empty()) {
    size_t end = ptx.find_first_of("\n;");
    std::string_view line = ptx.substr(0, end);
    ptx = end == std::string_view::npos ? std::string_view() : ptx.substr(end + 1);
    size_t comment = line.find("//");
    line = line.substr(0, comment);
    size_t begin = line.find_first_not_of(" \t{");
    if (begin == std::string_view::npos) continue;
    line = line.substr(begin);
    if (line[0] == '@') {  // "@%p1 bra …"
      size_t space = line.find_first_of(" \t");
      begin = space == std::string_view::npos ? space : line.find_first_not_of(" \t", space);
      if (begin == std::string_view::npos) continue;
      line = line.substr(begin);
    }
    std::string_view opcode = line.substr(0, line.find_first_of(" \t"));
    for (const InstructionClass& row : kClasses) {
      if (!opcode.starts_with(row.prefix)) continue;
      if (std::string_view(row.contains) == "-") break;
      if (opcode.find(row.contains) == std::string_view::npos) continue;
      counts[row.name]++;
      break;
    }
  }
  return counts;
}

Diag rejectedPtx(const std::string& assembler, const Target& target, const std::string& log, const char* stage) {
  return Diag{Code::kInternal, fmt::format("{} rejects the generated {} for {}: {}", assembler, stage, target.name, log),
              assembler, "report this with the output of --emit ptx"};
}

}  // namespace nereid::compiler
