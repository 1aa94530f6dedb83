// Two tiles are popped and not freed, so there is no slot left for the fourth.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  tile.push %t, %p
  tile.push %t, %p
  // CHECK-DAG: missing-free-fills-the-ring.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cube waits to push into 'to_aiv' (2 of 2 slots popped and not freed)
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: missing-free-fills-the-ring.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 4 pops from pipe 'to_aiv' but 1 free; write one tile.free for each pop
  %u = tile.pop %p : !t
  // CHECK-DAG: missing-free-fills-the-ring.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: a free that is written is here
  tile.free %p
  %v = tile.pop %p : !t
  %w = tile.pop %p : !t
  %z = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
