// A delay line is popped before anything is in it.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aiv -> aiv, 8x8xf32>
kiln.func @vec(%p: !p) role(aiv) {
  // CHECK-DAG: delay-line-popped-first.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: deadlock: vec waits to pop from 'to_aiv' (0 of 2 slots full)
  // CHECK-DAG: delay-line-popped-first.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: cycle of waits: vec -> vec
  %u = tile.pop %p : !t
  tile.push %u, %p
}
kiln.func @pair() group {
  %p = tile.pipe slots(2) : !p
  kiln.call @vec(%p)
}
