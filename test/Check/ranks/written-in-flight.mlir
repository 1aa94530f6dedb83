// A kernel writes what is being reduced: in a manual scope nothing orders the two.
// RUN: not %kiln check %s --as-given --seeds 1 2>&1 | FileCheck %s
// CHECK: written-in-flight.mlir:[[#]]:{{[0-9]+}}: error: race: {{.*}}nothing orders the two
// CHECK: written-in-flight.mlir:[[#]]:{{[0-9]+}}: note: task {{[01]}} is submitted here
// CHECK: FINDINGS
kiln.func @fill(%y: !kiln.tensor<8x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  kiln.scope manual {
    %t = kiln.all_reduce %y, sum
    %u = kiln.submit @fill(%y)
  }
}
