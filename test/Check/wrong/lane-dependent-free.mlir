// Only lane 0 frees.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32, up_down>
!s = !tile.tile<4x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %u = tile.pop %p : !s
  %lane = tile.lane
  %first = arith.cmpi eq, %lane, %c0 : index
  scf.if %first {
    // CHECK-DAG: lane-dependent-free.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.free runs under a condition that differs between lanes
    tile.free %p
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group lanes(2) {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
