// The ranks reduce different numbers of rows.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: error: {{.*}}ranks 0 and 1 have tensors of different types or extents: rank 0 is at all_reduce of f32[1, 8] at {{.*}}differing-extents.mlir:[[#]]:{{[0-9]+}}, rank 1 at all_reduce of f32[2, 8] at {{.*}}differing-extents.mlir:[[#]]
// CHECK: incomplete: {{.*}}kiln.all_reduce has a tensor whose extent depends on which rank it is
// CHECK: FINDINGS
kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %rows = arith.addi %me, %c1 : index
  %part = kiln.slice %y[0, 0] [%rows, 8] : !kiln.tensor<?x8xf32>
  %t = kiln.all_reduce %part, sum
}
