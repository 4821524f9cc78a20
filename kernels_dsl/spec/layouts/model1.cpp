// MODEL1 (DeepSeek-V4): 448 e4m3 and 64 bf16 columns a row; 7 powers of two and a pad byte a token behind the page's rows.
#include "kernels_dsl/spec/layouts/layouts.h"

namespace nereid::kernels {

KvLayout model1Layout() {
  return {
      .name = "MODEL1",
      .row_bytes = 576,
      .footer_bytes = 8,
      .page_align = 576,
      .pieces = {{.byte = 0, .cols = 448, .elem = Elem::kE4M3, .scale = Scale{.byte = 0, .elem = ScaleElem::kUE8M0, .block = 64}},
                 {.byte = 448, .cols = 64, .elem = Elem::kBF16}}};
}

}  // namespace nereid::kernels
