// A while loop pops twice and nobody pushes: the proof and the simulator both say so.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
}
kiln.func @vec(%p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %end = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %c2 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    // CHECK-DAG: while-around-a-pop.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: 0 pushes into pipe 'to_aiv' but 2 pops: the last pop waits forever
    // CHECK-DAG: while-around-a-pop.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: Cross-core simulation deadlock; tasks blocked: [vec waits to pop from 'to_aiv' (0 of 2 slots full)
    %u = tile.pop %p : !t
    %next = arith.addi %j, %c1 : index
    scf.yield %next : index
  }
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%p)
}
// CHECK: pipes of @pair: refuted
