// The same holds on the other sides.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg i=-8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --seeds 2 --arg i=-7 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %i: index, %y: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %y[0, %i]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.store: a tile of 4x8 at [0, -8] lies wholly outside 'y' (f32[4, 8])
}
