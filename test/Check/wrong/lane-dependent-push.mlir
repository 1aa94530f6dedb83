// Lane 1 pushes twice and outruns lane 0.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aic, 8x8xf32, left_right>
!s = !tile.tile<8x4xf32>
kiln.func @cube(%p: !p) role(aic) {
  %u = tile.pop %p : !t
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !s
  tile.push %t, %p
  %lane = tile.lane
  %second = arith.cmpi eq, %lane, %c1 : index
  // CHECK-DAG: lane-dependent-push.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: the condition is this one
  scf.if %second {
    // CHECK-DAG: lane-dependent-push.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.push runs under a condition that differs between lanes
    tile.push %t, %p
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group lanes(2) {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%p)
  kiln.call @vec(%x, %p)
}
