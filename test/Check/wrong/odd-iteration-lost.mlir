// Unrolled by two without the odd iteration.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c2 {
    %u = tile.pop %p : !t
    // CHECK-DAG: odd-iteration-lost.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 push into pipe 'to_aiv' but 2 pops (n against 2 * ceildiv(n, 2)) with n = 1: the last pop waits forever
    %v = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
