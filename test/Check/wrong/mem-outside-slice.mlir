// A view lies inside its tensor.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=3 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=2 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %i: index, %y: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  %s = kiln.slice %x[%i, 0] [2, 8] : !kiln.tensor<2x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: kiln.slice: slice [3, +2) of axis 0 is outside its extent 4; the tensor is 'x' (f32[4, 8])
  %a = tile.load %s[0, 0] : !tile.tile<2x8xf32>
  tile.store %a, %y[0, 0]
}
