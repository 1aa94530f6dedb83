// Three tiles are delayed in a line of two slots.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aiv, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  tile.push %t, %p
  // CHECK-DAG: delay-line-too-short.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: deadlock: vec waits to push into 'to_aiv' (2 of 2 slots full)
  // CHECK-DAG: delay-line-too-short.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cycle of waits: vec -> vec
  tile.push %t, %p
  %u = tile.pop %p : !t
  %v = tile.pop %p : !t
  %w = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  // CHECK-DAG: delay-line-too-short.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: slots(3) on this pipe would be enough
  %p = tile.pipe slots(2) : !p
  kiln.call @vec(%x, %p)
}
