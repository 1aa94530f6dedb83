// Rank 0 alone comes to a collective.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: [[FILE:.*rank-dependent-branch.mlir]]:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}wait for each other for ever: rank 0 waits in all_reduce of f32[8, 8] at {{.*}}rank-dependent-branch.mlir:[[#REDUCE:]]:{{[0-9]+}}; rank 1 has ended
// CHECK: incomplete: {{.*}}kiln.all_reduce stands under a condition or in a loop that depends on which rank it is ({{.*}}.mlir:[[#]]
// CHECK: FINDINGS
kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %me = kiln.rank
  %is = arith.cmpi eq, %me, %c0 : index
  scf.if %is {
    %t = kiln.all_reduce %y, sum
  }
}
