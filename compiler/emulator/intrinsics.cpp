#include "compiler/emulator/intrinsics.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace nereid::emulator {
namespace {

// Rows by exact name, and those with a pattern in table order.
struct Index {
  std::unordered_map<std::string_view, const Intrinsic*> exact;
  std::vector<const Intrinsic*> patterns;
};

Index makeIndex() {
  Index index;
  for (auto table : {warpIntrinsics(), matrixIntrinsics(), mbarrierIntrinsics(), copyIntrinsics(), conversionIntrinsics()}) {
    for (const Intrinsic& row : table) {
      if (std::string_view(row.name).ends_with('*'))
        index.patterns.push_back(&row);
      else
        index.exact.emplace(row.name, &row);
    }
  }
  return index;
}

}  // namespace

const Intrinsic* findIntrinsic(std::string_view name, uint64_t& aux) {
  static const Index index = makeIndex();
  if (auto at = index.exact.find(name); at != index.exact.end()) {
    aux = at->second->aux;
    return at->second;
  }
  for (const Intrinsic* row : index.patterns) {
    std::string_view pattern = row->name;
    pattern.remove_suffix(1);
    if (!name.starts_with(pattern)) continue;
    aux = row->aux;
    if (row->parse(name.substr(pattern.size()), aux)) return row;
  }
  return nullptr;
}

}  // namespace nereid::emulator
