// A box lies inside its tile.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=7 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=6 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %i: index, %y: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  %e = tile.extract %t[0, %i] : !tile.tile<4x2xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.extract: a box of 4x2 at [0, 7] lies outside the tile of 4x8
  tile.store %e, %y[0, 0]
}
