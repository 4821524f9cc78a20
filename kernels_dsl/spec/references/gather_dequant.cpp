// gather_dequant: code · scale in float32, then bf16, both to nearest even, as the format's definition in torch does it.
#include <cmath>

#include "kernels_dsl/spec/formats.h"
#include "kernels_dsl/spec/references/reference.h"
#include "kernels_dsl/spec/references/token_rows.h"
#include "runtime/base/thread_pool.h"

namespace nereid::kernels {

Result<TensorMap> referenceGatherDequant(const DequantCase& c) {
  NEREID_TRY(TensorMap out, initialOutputs(c));
  auto* const kv = out["kv"].as<uint16_t>();
  const TokenRows rows(*c.problem.layout, c.problem.page_size, c.cache);
  const int64_t d = c.problem.layout->d();
  parallelFor(c.indices.elements(), 0, [&](int64_t i) {
    const int64_t token = indexAt(c.indices, i);
    if (!rows.isToken(token)) return;  // zeros
    for (const Cell& cell : rows.rowCells()) {
      const float scale = rows.scaleOf(token, cell);
      for (int k = 0; k < cell.cols; ++k) {
        const float code = rows.codeOf(token, cell, k);
        kv[i * d + cell.col + k] = encodeBF16(cell.scale ? code * scale : code);
      }
    }
  });
  return out;
}

}  // namespace nereid::kernels
