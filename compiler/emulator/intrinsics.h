// The tables of what the emulator can execute beside LLVM's own instructions: NVVM intrinsics and forms of inline PTX. A name
// that no table has is an error when the program is loaded. How to add one: docs/emulator.md.
#pragma once
#include <span>
#include <string_view>

#include "compiler/emulator/program.h"

namespace nereid::emulator {

// A row. `name` is what follows "llvm.nvvm."; a trailing '*' matches any rest, which `parse` then turns into Op::aux (false: not
// this row). Handlers find their operands' columns in the op's list, results first; vectors and structs are flattened.
struct Intrinsic {
  const char* name;
  Handler run;
  uint64_t aux = 0;
  bool (*parse)(std::string_view rest, uint64_t& aux) = nullptr;
  bool async_proxy = false;  // the program then keeps the async proxy's clocks
};

std::span<const Intrinsic> warpIntrinsics();    // special registers, shuffles, votes, reductions, barriers, hints
std::span<const Intrinsic> matrixIntrinsics();  // mma, ldmatrix, stmatrix
std::span<const Intrinsic> mbarrierIntrinsics();
std::span<const Intrinsic> copyIntrinsics();        // cp.async, cp.async.bulk, prefetch
std::span<const Intrinsic> conversionIntrinsics();  // cvt forms, prmt, approximations

// Sets `aux` to the row's value, or to what its parser makes of the name.
const Intrinsic* findIntrinsic(std::string_view name, uint64_t& aux);

// By the name of the form in compiler/codegen/inline_ptx.h.
const Intrinsic* findInlineForm(std::string_view form);

}  // namespace nereid::emulator
