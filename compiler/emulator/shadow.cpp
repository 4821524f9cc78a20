#include "compiler/emulator/shadow.h"

namespace nereid::emulator {

uint32_t ReadSets::add(uint32_t id, int thread, uint16_t component, uint32_t epoch, uint32_t op) {
  for (const Reader& r : sets_[id]) {
    if (r.component == component && r.epoch == epoch) return id;
  }
  auto [at, fresh] = memo_.try_emplace(Key{id, component, epoch}, static_cast<uint32_t>(sets_.size()));
  if (!fresh) return at->second;
  std::vector<Reader> set;
  for (const Reader& r : sets_[id]) {
    if (r.component != component && !clocks_.ordered(thread, r.component, r.epoch)) set.push_back(r);
  }
  set.push_back({component, epoch, op});
  sets_.push_back(std::move(set));
  return at->second;
}

}  // namespace nereid::emulator
