// Two lanes push whole tiles that nothing can join.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @cube(%p: !p) role(aic) {
  %u = tile.pop %p : !t
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group lanes(2) {
  // CHECK-DAG: lanes-push-unsplit.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'tile.pipe' op split none cannot join what 2 lanes of aiv push; split up_down would work
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%p)
  kiln.call @vec(%x, %p)
}
