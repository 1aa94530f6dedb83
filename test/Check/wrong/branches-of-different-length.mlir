// One branch pushes once, the other twice; one tile is popped.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %flag: i1, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  scf.if %flag {
    tile.push %t, %p
  } else {
    tile.push %t, %p
    // CHECK-DAG: branches-of-different-length.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 2 pushes into pipe 'to_aiv' but 1 pop with flag = 0: 1 tile left in the pipe at the end
    tile.push %t, %p
  }
}
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: branches-of-different-length.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aiv pops here
  %u = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %flag: i1) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %flag, %p)
  kiln.call @vec(%p)
}
