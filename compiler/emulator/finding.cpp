#include "compiler/emulator/finding.h"

#include <fmt/format.h>

namespace nereid::emulator {

std::string SourceLine::text() const {
  if (file.empty()) return "?";
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), line);
}

const char* findingName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kOutOfBounds: return "out of bounds";
    case FindingKind::kReadOnly: return "store to a read-only buffer";
    case FindingKind::kMisaligned: return "misaligned address";
    case FindingKind::kUninitialised: return "read of unwritten memory";
    case FindingKind::kRace: return "data race";
    case FindingKind::kMissingProxyFence: return "missing fence.proxy.async";
    case FindingKind::kPendingCopy: return "copy not awaited";
    case FindingKind::kDivergence: return "divergent collective";
    case FindingKind::kBarrier: return "barrier mismatch";
    case FindingKind::kMbarrier: return "mbarrier misuse";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kRegisters: return "setmaxnreg misuse";
    case FindingKind::kEndless: return "no end";
  }
  return "?";
}

std::string FindingPlace::text() const {
  std::string who = thread == kCopy ? "a copy"
                    : thread < 0    ? ""
                                    : fmt::format("thread {} (warp {}, lane {})", thread, thread / 32, thread % 32);
  if (block >= 0) who += fmt::format("{}block {}", who.empty() ? "" : " of ", block);
  if (!op.empty()) who += fmt::format(" at {} ({})", op, line.text());
  return who;
}

std::string Finding::text() const {
  std::string text = fmt::format("{}: {}: {}", findingName(kind), place.text(), what);
  if (count > 1) text += fmt::format(" [{} times]", count);
  for (const FindingPlace& other : others) text += "\n    " + other.text();
  return text;
}

}  // namespace nereid::emulator
