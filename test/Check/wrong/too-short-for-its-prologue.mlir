// Two tiles are pushed ahead; fewer than two iterations are too few for that, and nothing says that there are more.
// RUN: not %kiln check %s --arg n=1 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
  // CHECK-DAG: too-short-for-its-prologue.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 2 pushes into pipe 'to_aiv' but 0 pops with n = 0: 2 tiles left in the pipe at the end
  // CHECK-DAG: too-short-for-its-prologue.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 1 tile is left in pipe 'to_aiv' when the group ends
  tile.push %t, %p
  scf.for %i = %c2 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %n, %p)
  kiln.call @vec(%n, %p)
}
// CHECK: pipes of @pair: refuted
