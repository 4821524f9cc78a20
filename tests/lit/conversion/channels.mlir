// RUN: %nereid-opt %S/../transforms/partition_roles.mlir --apply-schedule --partition-roles --assign-layouts --lower-kernel --target sm_120a --schedule 'roles=load+main,role.load.warps=2,role.main.warps=1,role.main.dots=x,grid.x=1x1x1,stages=3' | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: %nereid-opt %S/../transforms/partition_roles.mlir --apply-schedule --partition-roles --assign-layouts --lower-kernel --target sm_80 --schedule 'roles=load+main,role.load.warps=2,role.main.warps=1,role.main.dots=x,grid.x=1x1x1,stages=3' | FileCheck %s --check-prefixes=CHECK,ASYNC
// RUN: %nereid-opt %S/../transforms/partition_roles.mlir --apply-schedule --partition-roles --assign-layouts --lower-kernel --target sm_120a --schedule 'roles=load+main,role.load.warps=2,role.load.groups=2,role.main.warps=1,role.main.dots=x,grid.x=1x1x1,stages=3' | FileCheck %s --check-prefix=GROUPS

// Three slots with two barriers each: `full` counts every lane of the writer (twice where copies arrive by themselves), `empty` every lane of
// the reader.
// CHECK-LABEL: llvm.func @kernel
// BULK: nvvm.mbarrier.init %{{.*}}, %c64_i32
// ASYNC: nvvm.mbarrier.init %{{.*}}, %c128_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c32_i32
// CHECK-COUNT-4: nvvm.mbarrier.init %
// CHECK-NOT: nvvm.mbarrier.init %
// BULK: nvvm.fence.mbarrier.init
// The computing role's warps come first.
// CHECK: nvvm.mma.sync
// CHECK: nvvm.mbarrier.arrive
// BULK: nvvm.cp.async.bulk
// BULK: nvvm.fence.proxy
// BULK: nvvm.mbarrier.arrive.expect_tx
// Eight lanes copy 128 bytes of a row at once: four that share a row and, in two turns, those of the next.
// ASYNC: nvvm.shfl.sync idx
// ASYNC-COUNT-4: nvvm.cp.async.shared.global
// ASYNC: nvvm.shfl.sync idx
// ASYNC-COUNT-4: nvvm.cp.async.shared.global
// ASYNC-NOT: nvvm.cp.async.shared.global
// ASYNC: nvvm.cp.async.mbarrier.arrive {{.*}}noinc
// ASYNC: nvvm.mbarrier.arrive

// With groups a slot is filled by one of them: 32 lanes arrive.
// GROUPS-LABEL: llvm.func @kernel
// GROUPS: nvvm.mbarrier.init %{{.*}}, %c32_i32
