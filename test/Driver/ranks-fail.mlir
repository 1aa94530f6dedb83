// A rank that fails in a kernel ends all, with its own error and line; nobody hangs.
// RUN: sh -c 'timeout 20 %kiln run %s -p cpu --ranks 3 --no-reference --arg y=8x8 2>&1; test $? = 1' | FileCheck %s
// RUN: sh -c 'timeout 20 %kiln run %s -p a2a3sim --ranks 3 --no-reference --arg y=8x8 2>&1; test $? = 1' | FileCheck %s
// CHECK: ranks-fail.mlir:[[#@LINE+12]]{{(:[0-9]+)?}}: error: rank 1: {{.*}}zero

kiln.func @main(%y: !kiln.tensor<8x8xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %far = arith.subi %c1, %me : index
  %d = arith.muli %far, %far : index
  %t = kiln.submit @divide(%y, %d)
  %u = kiln.all_reduce %y, sum
}
kiln.func @divide(%y: !kiln.tensor<8x8xf32> inout, %d: index) incore {
  %c8 = arith.constant 8 : index
  %i = arith.divsi %c8, %d : index
  %c0 = arith.constant 0 : index
  %j = arith.minsi %i, %c0 : index
  %t = tile.load %y[%j, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[%j, 0]
}
