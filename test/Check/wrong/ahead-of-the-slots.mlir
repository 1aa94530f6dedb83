// The vector role runs further ahead than one slot each way allows.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
!q = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @cube(%n: index, %p: !p, %q: !q) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %q : !t
    // CHECK-DAG: ahead-of-the-slots.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: deadlock with n = 3: cube waits to push into 'to_aiv' (1 of 1 slot full)
    // CHECK-DAG: ahead-of-the-slots.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cycle of waits: cube -> vec -> cube
    tile.push %u, %p
  }
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p, %q: !q) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: ahead-of-the-slots.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: vec waits to push into 'to_aic' (1 of 1 slot popped and not freed)
    tile.push %t, %q
  }
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(1) : !p
  %q = tile.pipe slots(1) : !q
  kiln.call @cube(%n, %p, %q)
  kiln.call @vec(%x, %n, %p, %q)
}
