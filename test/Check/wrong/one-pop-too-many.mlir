// One tile is pushed and two are popped.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  // CHECK-DAG: one-pop-too-many.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aic pushes here
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  %u = tile.pop %p : !t
  // CHECK-DAG: one-pop-too-many.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 push into pipe 'to_aiv' but 2 pops: the last pop waits forever
  %v = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
