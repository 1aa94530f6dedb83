// A tile is pushed ahead of the loop and never drained.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  // CHECK-DAG: drain-forgotten.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 push into pipe 'to_aiv' but 0 pops (n + 1 against n) with n = 0: 1 tile left in the pipe at the end
  tile.push %t, %p
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: drain-forgotten.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aiv pops here
    %u = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
