// Everybody sends from and receives into the same memory, so nobody receives before somebody else has.
// RUN: not %kiln check %s --as-given --seeds 1 --ranks 3 2>&1 | FileCheck %s
// CHECK: error: {{.*}}wait for each other for ever: rank 0 waits in send of f32[8, 8] to rank 1 at {{.*}}blocking-ring.mlir:[[#]]:{{[0-9]+}}; rank 1 waits in send of f32[8, 8] to rank 2 at {{.*}}blocking-ring.mlir:[[#]]
// CHECK: FINDINGS
kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %several = arith.cmpi sgt, %n, %c1 : index
  scf.if %several {
    %s = kiln.send %y to %next
    %r = kiln.recv %y from %previous
  }
}
