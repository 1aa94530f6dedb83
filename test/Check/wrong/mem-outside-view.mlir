// An element of a view that is inside the tensor but not inside the view.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=2 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=1 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %i: index, %y: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  %s = kiln.slice %x[0, 0] [2, 8] : !kiln.tensor<2x8xf32>
  %v = kiln.read %s[%i, 0] : f32
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: kiln.read: element [2, 0] is outside a view of 'x' (f32[2, 8])
  kiln.write %v, %y[0, 0]
}
