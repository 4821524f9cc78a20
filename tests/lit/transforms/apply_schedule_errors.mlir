// Each refusal is one sentence that says what to change.
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=pv' 2>&1 | FileCheck %s --check-prefix=ROLE
// ROLE: error: no role runs the dot qk; add it to a role, for instance role.main.dots=qk
// RUN: not %nereid-opt %s --apply-schedule --schedule 'warps=3' 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: 3 warps a block; use a power of two
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.main.warps=6' 2>&1 | FileCheck %s --check-prefix=ROLEWARPS
// ROLEWARPS: error: role main has 6 warps; use a power of two
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.main.warps=32' 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 36 warps a block, sm_120a allows 32; use fewer warps
// RUN: not %nereid-opt %s --apply-schedule --schedule 'grid.qk=1x2x1' 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: grid.qk has 2 warps, its role has 4; make m·n·k equal to the role's warps
// RUN: not %nereid-opt %s --apply-schedule --schedule 'grid.qk=4x1x1' 2>&1 | FileCheck %s --check-prefix=FRAGMENT
// FRAGMENT: error: dot qk [16 x 32 x 64] is too small for its grid 4x1x1: a warp's part is at least 16 x 8 x 16; use fewer warps in grid.qk or larger tiles
// RUN: not %nereid-opt %s --apply-schedule --schedule 'grid.pv=1x4x1' 2>&1 | FileCheck %s --check-prefix=LABEL
// LABEL: error: grid.pv names a dot that the program has not; remove it
// RUN: not %nereid-opt %s --apply-schedule --schedule 'blocks_per_sm=32,warps=32,grid.qk=1x4x4' 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: 32 blocks of 32 warps leave 0 registers a thread; use fewer blocks_per_sm
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.load.warps=2,role.main.dots=qk,role.main.registers=200' 2>&1 | FileCheck %s --check-prefix=FOURS
// FOURS: error: role load has 2 warps and the schedule has register budgets; use multiples of four warps, or no budgets
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.load.registers=40,role.main.dots=qk,role.main.registers=248,blocks_per_sm=2' 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: register budgets add up to 36864, a block of 128 registers a thread is launched with 32768; lower role.NAME.registers
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.main.groups=2' 2>&1 | FileCheck %s --check-prefix=CARRIED
// CARRIED: error: role main has 2 groups; carried values would have to pass between them; give groups to the role that gathers only
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.load.groups=3' 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: error: role load has 3 groups of 4 warps in all; use a power of two that divides the warps
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.load.groups=4,stages=3' 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: role load has 4 groups and the ring 3 stages; use at least as many stages as groups
// RUN: not %nereid-opt %s --apply-schedule --schedule 'tiles=3' 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: unknown schedule key 'tiles'; accepted: tile.NAME
// RUN: not %nereid-opt %s --apply-schedule --target sm_42 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target sm_42; targets are sm_120a

func.func @kernel(%a: tensor<16x64xf16>, %b: tensor<64x32xf16>, %c: tensor<16x32xf32>) attributes {tile.kernel} {
  %d = tile.dot "qk" %a, %b, %c : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  return
}
