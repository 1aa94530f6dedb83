// The variance came out below zero.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --nan --arg x=4x8:ones --arg y=4x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --nan --arg x=4x8:ones --arg y=4x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %n = tile.neg %a : !tile.tile<4x8xf32>
  %r = tile.rsqrt %n : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.rsqrt makes NaN at [0, 0] of -1
  tile.store %r, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %r = tile.rsqrt %a : !tile.tile<4x8xf32>
  tile.store %r, %y[0, 0]
}
