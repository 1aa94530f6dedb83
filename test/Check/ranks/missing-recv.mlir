// Rank 0 sends what rank 1 never receives.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: error: {{.*}}wait for each other for ever: rank 0 waits in send of f32[8, 8] to rank 1 at {{.*}}missing-recv.mlir:[[#]]:{{[0-9]+}}; rank 1 has ended
// CHECK: FINDINGS
kiln.func @main(%y: !kiln.tensor<8x8xf32> in) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %first = arith.cmpi eq, %me, %c0 : index
  %several = arith.cmpi sgt, %n, %c1 : index
  %is = arith.andi %first, %several : i1
  scf.if %is {
    %t = kiln.send %y to %c1
  }
}
