// Each role waits for the other to push first.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
!q = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @cube(%p: !p, %q: !q) role(aic) {
  // CHECK-DAG: both-pop-first.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: deadlock: cube waits to pop from 'to_aic' (0 of 2 slots full)
  // CHECK-DAG: both-pop-first.mlir:[[#@LINE+2]]:{{[0-9]+}}: note: cycle of waits: cube -> vec -> cube
  // CHECK-DAG: both-pop-first.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: no number of slots helps: the order of pushes and pops has to change
  %u = tile.pop %q : !t
  tile.push %u, %p
}
kiln.func @vec(%p: !p, %q: !q) role(aiv) {
  // CHECK-DAG: both-pop-first.mlir:[[#@LINE+1]]:{{[0-9]+}}: note: vec waits to pop from 'to_aiv' (0 of 2 slots full)
  %u = tile.pop %p : !t
  tile.push %u, %q
}
kiln.func @pair() group {
  %p = tile.pipe slots(2) : !p
  %q = tile.pipe slots(2) : !q
  kiln.call @cube(%p, %q)
  kiln.call @vec(%p, %q)
}
