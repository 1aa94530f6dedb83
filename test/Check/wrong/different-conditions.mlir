// Push and pop depend on different flags.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %f: i1, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  scf.if %f {
    // CHECK-DAG: different-conditions.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aic pushes here
    tile.push %t, %p
  }
}
kiln.func @vec(%g: i1, %p: !p) role(aiv) {
  scf.if %g {
    // CHECK-DAG: different-conditions.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 0 pushes into pipe 'to_aiv' but 1 pop with f = 0, g = 1: the last pop waits forever
    %u = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %f: i1, %g: i1) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %f, %p)
  kiln.call @vec(%g, %p)
}
