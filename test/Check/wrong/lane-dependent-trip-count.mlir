// Lane k pops k + 1 times.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32, up_down>
!s = !tile.tile<4x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lane = tile.lane
  %n = arith.addi %lane, %c1 : index
  // CHECK-DAG: lane-dependent-trip-count.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: the trip count is this one
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: lane-dependent-trip-count.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.pop runs under a trip count that differs between lanes
    %u = tile.pop %p : !s
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group lanes(2) {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
