// Usage, input and what a target cannot run end with 2, expectations that are not met with 1. Messages name what, where and the fix.
// RUN: sh -c '%nereid-opt %s --tile-to-gpu --schedule wraps=3; test $? = 2' 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: nereid-opt: unknown schedule key 'wraps' (--schedule); accepted: tile.NAME
// RUN: sh -c '%nereid-opt %s --tile-to-gpu --target sm_42; test $? = 2' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: nereid-opt: unknown target sm_42 (--target); targets are sm_120a
// RUN: sh -c '%nereid-opt %s --tile-to-gpu=until=lower; test $? = 2' 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: tile-to-gpu has no stage 'lower'; nereid-opt --list names them
// RUN: sh -c '%nereid-opt %s --tile-to-gpu=from=lower; test $? = 2' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: option 'from=lower' of tile-to-gpu; it takes until=STAGE
// RUN: sh -c '%nereid-opt %s --tile-to-gpu --schedule warps=3; test $? = 2' 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: 3 warps a block (schedule); use a power of two
// RUN: sh -c 'echo "tile.nothing" | %nereid-opt; test $? = 2' 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: <stdin>:1:1: error:
// RUN: sh -c '%nereid-opt %s --verify-diagnostics >/dev/null; test $? = 1' 2>&1 | FileCheck %s --check-prefix=EXPECTED
// EXPECTED: exit_codes.mlir:[[# @LINE + 2]]:6: error: expected error "nothing" was not produced
func.func @kernel() attributes {tile.kernel} {
  // expected-error @+1 {{nothing}}
  return
}
