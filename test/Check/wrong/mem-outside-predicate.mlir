// One element is inside or not.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=-1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=0 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%n: !kiln.tensor<4xi32>, %i: index, %y: !kiln.tensor<4x8xf32>) orchestration {
  %a = kiln.submit @fill(%y) predicate(%n[%i] > 0)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: kiln.submit: predicate: element [-1] is outside 'n' (i32[4])
}
