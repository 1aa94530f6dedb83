// The slots of the first loop are never freed.
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
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: frees-in-one-of-two-loops.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 2 pops from pipe 'to_aiv' but 1 free (2 * n against n) with n = 1; write one tile.free for each pop, or none in the whole function and the compiler places them
    %u = tile.pop %p : !t
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = tile.pop %p : !t
    // CHECK-DAG: frees-in-one-of-two-loops.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: a free that is written is here
    tile.free %p
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
