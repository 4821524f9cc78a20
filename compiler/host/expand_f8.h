// Eight-bit floats on the CPU: conversions by integer arithmetic, exact for every code.
#pragma once
#include <memory>

#include "mlir/Pass/Pass.h"

namespace nereid::compiler {

// Before: arith.extf and arith.truncf from and to f8E4M3FN and f8E8M0FNU, scalars or vectors. After: integer and f32 arith ops.
// Formats: OCP 8-bit floating point (E4M3: 0x7F and 0xFF are NaN, largest 448), OCP microscaling (E8M0: 2^(code - 127), 255 is
// NaN). Truncation to E4M3 rounds to nearest, ties to even, and saturates, as cvt.rn.satfinite does on the GPU; to E8M0 it rounds
// to the nearest power of two, ties up, of a value that is not negative. Upstream's arith-expand has no E4M3, and turns E8M0 code
// 0 into 0.
std::unique_ptr<mlir::Pass> createExpandF8Pass();

}  // namespace nereid::compiler
