// Four iterations push, three pop.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: constant-trip-counts.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 4 pushes into pipe 'to_aiv' but 3 pops: 1 tile left in the pipe at the end
    tile.push %t, %p
  }
}
kiln.func @vec(%p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: constant-trip-counts.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aiv pops here
    %u = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
