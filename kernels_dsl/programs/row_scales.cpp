#include "kernels_dsl/programs/row_scales.h"

#include "kernels_dsl/programs/paged_cache.h"
#include "kernels_dsl/programs/power_of_two.h"

namespace nereid::kernels {
using dsl::Type, dsl::Value;

namespace {
constexpr int kMagnitude = 0x7fffffff;  // f32 without its sign: orders like the number, NaN last
}  // namespace

std::vector<Value> gatherScales(dsl::Builder& b, const KvLayout& layout, const std::vector<Cell>& cells, const Value& base,
                                const Value& offsets, const Value& selected, int align) {
  std::vector<Value> scales(cells.size());
  if (!layout.hasScales()) return scales;
  const Value span = b.gatherRows(base, offsets, scaleSpan(layout).bytes, selected, align);
  for (size_t c = 0; c < cells.size(); c++)
    if (cells[c].scale) scales[c] = cellScale(b, layout, cells[c], span);
  return scales;
}

RowScales splitScales(const std::vector<Value>& scales, const Value& selected) {
  RowScales out{.scale = std::vector<Value>(scales.size()), .rest = std::vector<Value>(scales.size())};
  Value top;
  for (size_t c = 0; c < scales.size(); c++) {
    if (!scales[c].present()) continue;
    out.scale[c] = scales[c].to(Type::F32);
    const Value bits = bitcast(out.scale[c], Type::I32) & kMagnitude;
    top = top.present() ? max(top, bits) : bits;
  }
  // The power of two at or above.
  const Value power = select(selected, clampPower(powerAbove(top)), kExponentOne << kMantissaBits);
  const Value inverse = reciprocalPower(power);
  out.largest = bitcast(power, Type::F32) * kLargestDown;
  for (size_t c = 0; c < scales.size(); c++) {
    if (!scales[c].present()) continue;
    out.rest[c] = out.scale[c] * inverse * kRestUp;
  }
  return out;
}

}  // namespace nereid::kernels
