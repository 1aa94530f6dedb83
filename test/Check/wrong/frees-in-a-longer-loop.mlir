// The loop that frees is one iteration longer than the one that pops.
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
  %m = arith.addi %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !t
  }
  scf.for %i = %c0 to %m step %c1 {
    // CHECK-DAG: frees-in-a-longer-loop.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 0 pops from pipe 'to_aiv' but 1 free (n against n + 1) with n = 0
    tile.free %p
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
