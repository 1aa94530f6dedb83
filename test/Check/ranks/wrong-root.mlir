// The root does not exist with fewer than eight ranks.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: wrong-root.mlir:[[#]]:{{[0-9]+}}: error: {{.*}}broadcast: the root is rank 7, but there are ranks 0 to
// CHECK: FINDINGS
kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c7 = arith.constant 7 : index
  %t = kiln.broadcast %y from %c7
}
