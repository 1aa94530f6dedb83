// Three tiles are popped before the first is freed; there are two slots.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  tile.push %t, %p
  // CHECK-DAG: ring-full-of-popped-tiles.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: deadlock: cube waits to push into 'to_aiv' (2 of 2 slots popped and not freed)
  // CHECK-DAG: ring-full-of-popped-tiles.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cycle of waits: cube -> vec -> cube
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  %u = tile.pop %p : !t
  %v = tile.pop %p : !t
  // CHECK-DAG: ring-full-of-popped-tiles.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: vec waits to pop from 'to_aiv' (2 of 2 slots popped and not freed)
  %w = tile.pop %p : !t
  tile.free %p
  tile.free %p
  tile.free %p
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  // CHECK-DAG: ring-full-of-popped-tiles.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: slots(3) on this pipe would be enough
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
