// The producer forgets to push.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
}
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: nobody-pushes.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 0 pushes into pipe 'to_aiv' but 1 pop: the last pop waits forever
  %u = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  // CHECK-DAG: nobody-pushes.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aic never pushes
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
