// A slot is freed twice.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  %u = tile.pop %p : !t
  // CHECK-DAG: one-free-too-many.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 pop from pipe 'to_aiv' but 2 frees
  tile.free %p
  tile.free %p
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
