// Both tiles of one pipe are pushed before the other pipe is served, which is popped first.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
!q = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p, %q: !q) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  // CHECK-DAG: two-pipes-in-opposite-order.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: deadlock: cube waits to push into 'to_aiv_0' (1 of 1 slot full)
  // CHECK-DAG: two-pipes-in-opposite-order.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cycle of waits: cube -> vec -> cube
  tile.push %t, %p
  tile.push %t, %q
}
kiln.func @vec(%p: !p, %q: !q) role(aiv) {
  // CHECK-DAG: two-pipes-in-opposite-order.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: vec waits to pop from 'to_aiv_1' (0 of 1 slot full)
  %u = tile.pop %q : !t
  %v = tile.pop %p : !t
  %w = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  // CHECK-DAG: two-pipes-in-opposite-order.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: slots(2) on this pipe would be enough
  %p = tile.pipe slots(1) : !p
  %q = tile.pipe slots(1) : !q
  kiln.call @cube(%x, %p, %q)
  kiln.call @vec(%p, %q)
}
