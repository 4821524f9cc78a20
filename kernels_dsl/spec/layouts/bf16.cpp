// BF16: dense rows of 576 bf16 columns without scales, the unquantised cache of DeepSeek-V3.
#include "kernels_dsl/spec/layouts/layouts.h"

namespace nereid::kernels {

KvLayout bf16Layout() { return {.name = "BF16", .row_bytes = 1152, .pieces = {{.byte = 0, .cols = 576, .elem = Elem::kBF16}}}; }

}  // namespace nereid::kernels
