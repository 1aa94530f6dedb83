// Iterations in which a mask keeps everything run in a loop without it.
// RUN: kiln-opt %s --tile-peel-masks | FileCheck %s
// RUN: kiln-opt %s --tile-peel-masks --tile-peel-masks | FileCheck %s
// RUN: kiln-opt %s --tile-peel-masks=report=true 2>&1 | FileCheck %s --check-prefix=REPORT

// The ragged end and the diagonal: up to the smaller of the two edges, no mask at all.
// CHECK-LABEL: kiln.func @scores(
// CHECK: %[[MIDDLE:.*]] = arith.addi %c0
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[MIDDLE]], %n
// CHECK-NEXT: %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %[[END]] step %c64 iter_args(%{{.*}} = %{{.*}})
// CHECK-NOT: tile.mask
// CHECK-NOT: valid
// CHECK: scf.yield
// CHECK: {kiln.loop = #kiln.loop<pipeline, stages = 2>}
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %n step %c64 iter_args(%{{.*}} = %[[FIRST]])
// CHECK: tile.load {{.*}} valid(
// CHECK: tile.mask {{.*}} valid(64,
// CHECK: tile.mask_diag
// CHECK: scf.yield
// CHECK: kiln.peeled
// REPORT: [[#@LINE+9]]:{{[0-9]+}}: remark: masks of this loop that cost nothing before the edge: 3
kiln.func @scores(%k: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<64x64xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %zero = tile.full %z : !tile.tile<64x64xf32>
  %block = tile.block_idx 0
  %row = arith.muli %block, %c64 : index
  // The loop.
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!tile.tile<64x64xf32>) {
    %left = arith.subi %n, %i : index
    %most = arith.minsi %left, %c64 : index
    %x = tile.load %k[%i, 0] valid(%most, 64) : !tile.tile<64x64xf32>
    %m = tile.mask %x valid(64, %left) pad(min) : !tile.tile<64x64xf32>
    %o = arith.subi %row, %i : index
    %d = tile.mask_diag %m offset(%o) pad(min) : !tile.tile<64x64xf32>
    %s = tile.add %acc, %d : !tile.tile<64x64xf32>
    scf.yield %s : !tile.tile<64x64xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  tile.store %sum, %out[0, 0]
}

// Masks that matter from the start on, always, or that nobody can say stay.
// CHECK-LABEL: kiln.func @stay(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// REPORT: remark: the masks of this loop cost something in every iteration: no mask begins to matter at an index known before the loop
// REPORT: remark: the masks of this loop cost something in every iteration: its step is not a positive constant
kiln.func @stay(%x: !kiln.tensor<?x8xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
    %t = tile.load %x[%i, 0] valid(%i, 8) : !tile.tile<8x8xf32>
    %u = tile.mask %t valid(8, 4) : !tile.tile<8x8xf32>
    tile.store %u, %x[%i, 0]
  }
  scf.for %i = %c0 to %n step %n {
    %left = arith.subi %n, %i : index
    %t = tile.load %x[%i, 0] valid(%left, 8) : !tile.tile<8x8xf32>
    tile.store %t, %x[%i, 0]
  }
}

// A role with pipe operations in the loop keeps it whole: the other role has one loop too.
// CHECK-LABEL: kiln.func @role(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// REPORT: remark: the masks of this loop cost something in every iteration: it pushes or pops
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @role(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %t = tile.pop %p : !tile.tile<8x8xf32>
    %u = tile.mask %t valid(8, %left) : !tile.tile<8x8xf32>
  }
}
