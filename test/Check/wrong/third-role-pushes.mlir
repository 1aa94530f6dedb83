// A role that is neither end of a pipe uses it.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @copy(%x: !kiln.tensor<8x8xf32>, %p: !p) role(dma) {
  %t = tile.load %x[0, 0] : !t
  // CHECK-DAG: third-role-pushes.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'tile.push' op a function of role dma cannot push into '!tile.pipe<aic -> aiv, 8x8xf32>'; role aic does
  tile.push %t, %p
}
