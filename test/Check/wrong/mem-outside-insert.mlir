// A box lies inside its tile.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=-1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=0 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %i: index, %y: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  %s = tile.full %one : !tile.tile<1x1xf32>
  %e = tile.insert %s, %t[%i, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.insert: a box of 1x1 at [-1, 0] lies outside the tile of 4x8
  tile.store %e, %y[0, 0]
}
