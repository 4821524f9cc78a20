// The KV layouts that exist. A new one is a file in this folder, a line here and a line in kv_layout.cpp's registry.
#pragma once
#include "kernels_dsl/spec/kv_layout.h"

namespace nereid::kernels {

KvLayout model1Layout();
KvLayout v32Layout();
KvLayout bf16Layout();

}  // namespace nereid::kernels
