// Trip counts come from two tensors; the proof cannot compare them, the simulator sees them differ.
// RUN: not %kiln check %s --arg a=1:zeros --arg b=1:ones 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %a: !kiln.tensor<1xi64>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  %c = kiln.read %a[0] : i64
  %n = arith.index_cast %c : i64 to index
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @vec(%b: !kiln.tensor<1xi64>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = kiln.read %b[0] : i64
  %n = arith.index_cast %c : i64 to index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-DAG: counts-read-from-memory.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: Cross-core simulation deadlock; tasks blocked: [vec waits to pop from 'to_aiv' (0 of 2 slots full)
    %u = tile.pop %p : !t
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>, %a: !kiln.tensor<1xi64>, %b: !kiln.tensor<1xi64>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %a, %p)
  kiln.call @vec(%b, %p)
}
// CHECK: pipes of @pair: undecided
// CHECK: note: no proof was found for all that memory may hold
