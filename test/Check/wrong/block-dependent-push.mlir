// Only block 0 pushes; every block pops.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  %block = tile.block_idx 0
  %first = arith.cmpi eq, %block, %c0 : index
  scf.if %first {
    // CHECK-DAG: block-dependent-push.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: role aic pushes here
    tile.push %t, %p
  }
}
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: block-dependent-push.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 0 pushes into pipe 'to_aiv' but 1 pop with block_idx 0 = 1: the last pop waits forever
  %u = tile.pop %p : !t
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
