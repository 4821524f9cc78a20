// V32 (DeepSeek-V3.2, GLM-5): 512 e4m3 columns, 4 float32 scales of any value in the row, 64 bf16 columns.
#include "kernels_dsl/spec/layouts/layouts.h"

namespace nereid::kernels {

KvLayout v32Layout() {
  return {.name = "V32",
          .row_bytes = 656,
          .pieces = {
              {.byte = 0, .cols = 512, .elem = Elem::kE4M3, .scale = Scale{.byte = 512, .elem = ScaleElem::kF32, .block = 128}},
              {.byte = 528, .cols = 64, .elem = Elem::kBF16}}};
}

}  // namespace nereid::kernels
