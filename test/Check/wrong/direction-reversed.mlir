// The pipe leads from aic to aiv, and aiv pushes.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %t = tile.load %x[0, 0] : !t
  // CHECK-DAG: direction-reversed.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'tile.push' op a function of role aiv cannot push into '!tile.pipe<aic -> aiv, 8x8xf32>'; role aic does
  tile.push %t, %p
}
