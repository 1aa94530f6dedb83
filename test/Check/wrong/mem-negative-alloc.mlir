// No elements are fine, fewer are not.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=-2 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=0 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%n: !kiln.tensor<4xi32>, %i: index, %y: !kiln.tensor<4x8xf32>) orchestration {
  %x = kiln.alloc(%i) : !kiln.tensor<?x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: kiln.alloc: alloc: extent -2 of axis 0 is negative
  %a = kiln.submit @fill(%y)
}
