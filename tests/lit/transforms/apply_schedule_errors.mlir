// Each refusal is one sentence that says what to change.
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=pv' 2>&1 | FileCheck %s --check-prefix=ROLE
// ROLE: error: no role runs the dot qk (schedule); add it to a role, for instance role.main.dots=qk
// RUN: not %nereid-opt %s --apply-schedule --schedule 'warps=3' 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: 3 warps a block (schedule); use a power of two
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.main.warps=6' 2>&1 | FileCheck %s --check-prefix=ROLEWARPS
// ROLEWARPS: error: role main has 6 warps (schedule); use a power of two
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.main.warps=32' 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 36 warps a block, sm_120a allows 32 (schedule); use fewer warps
// RUN: not %nereid-opt %s --apply-schedule --schedule 'grid.qk=1x2x1' 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: grid.qk has 2 warps, its role has 4 (schedule); make m·n·k equal to the role's warps
// RUN: not %nereid-opt %s --apply-schedule --schedule 'grid.qk=4x1x1' 2>&1 | FileCheck %s --check-prefix=FRAGMENT
// FRAGMENT: error: dot qk [16 x 32 x 64] is too small for its grid 4x1x1: a warp's part is at least 16 x 8 x 16 (schedule); use fewer warps in grid.qk or larger tiles
// RUN: not %nereid-opt %s --apply-schedule --schedule 'grid.pv=1x4x1' 2>&1 | FileCheck %s --check-prefix=LABEL
// LABEL: error: grid.pv names a dot that the program has not (schedule); remove it
// RUN: not %nereid-opt %s --apply-schedule --schedule 'blocks_per_sm=32,warps=32,grid.qk=1x4x4' 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: 32 blocks of 32 warps leave 0 registers a thread (schedule); use fewer blocks_per_sm
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.load.warps=2,role.main.dots=qk,role.main.registers=200' 2>&1 | FileCheck %s --check-prefix=FOURS
// FOURS: error: role load has 2 warps and the schedule has register budgets (schedule); use multiples of four warps, or no budgets
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.load.registers=40,role.main.dots=qk,role.main.registers=248,blocks_per_sm=2' 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: register budgets add up to 36864, a block of 128 registers a thread is launched with 32768 (schedule); lower role.NAME.registers
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.main.groups=2' 2>&1 | FileCheck %s --check-prefix=CARRIED
// CARRIED: error: role main has 2 groups; carried values would have to pass between them (schedule); give groups to the role that gathers only
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.load.groups=3' 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: error: role load has 3 groups of 4 warps in all (schedule); use a power of two that divides the warps
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.load.groups=4,stages=3' 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: role load has 4 groups and the ring 3 stages (schedule); use at least as many stages as groups
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.load.dots=qk' 2>&1 | FileCheck %s --check-prefix=LOADDOT
// LOADDOT: error: role load has the dot qk but gathers rows only (schedule); give it to another role
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main+tail,role.main.dots=qk,role.tail.dots=qk' 2>&1 | FileCheck %s --check-prefix=TWOROLES
// TWOROLES: error: the roles main and tail have the dot qk (schedule); give it to one of them
// RUN: not %nereid-opt %s --apply-schedule --schedule 'roles=load+main,role.main.dots=qk,role.load.groups=8' 2>&1 | FileCheck %s --check-prefix=GROUPWARPS
// GROUPWARPS: error: role load has 8 groups of 4 warps in all (schedule); use a power of two that divides the warps
// RUN: not %nereid-opt %S/Inputs/dot_of_24.mlir --apply-schedule --schedule 'warps=1' 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: dot x has a dimension of 24 (schedule); use tile sizes that are powers of two
// RUN: not %nereid-opt %S/Inputs/dot_of_bytes.mlir --apply-schedule --schedule 'warps=2,grid.x=1x1x2' 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: dot x [16 x 8 x 32] is too small for its grid 1x1x2: a warp's part is at least 16 x 8 x 32 (schedule); use fewer warps in grid.x or larger tiles
// RUN: not %nereid-opt %s --apply-schedule --schedule 'tiles=3' 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: nereid-opt: unknown schedule key 'tiles' (--schedule); accepted: tile.NAME
// RUN: not %nereid-opt %s --apply-schedule --target sm_42 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: nereid-opt: unknown target sm_42 (--target); targets are sm_120a

func.func @kernel(%a: tensor<16x64xf16>, %b: tensor<64x32xf16>, %c: tensor<16x32xf32>) attributes {tile.kernel} {
  %d = tile.dot "qk" %a, %b, %c : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>
  return
}
