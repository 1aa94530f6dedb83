// The free comes before the pop.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: free-before-pop.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.free of pipe 'to_aiv' when every popped slot is free already (0 pops so far); move it behind the pop it belongs to
  tile.free %p
  %u = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
