// A row that is masked whole has the maximum -inf, and -inf minus -inf is NaN.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --nan --arg y=4x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --nan --arg y=4x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %m = tile.mask %a valid(2, 8) pad(min) : !tile.tile<4x8xf32>
  %max = tile.reduce max %m axis(1) : !tile.tile<4x1xf32>
  %d = tile.sub %m, %max : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.sub makes NaN at [2, 0] of -inf and -inf (in k, block [0, 0, 0] of task 0)
  %e = tile.exp %d : !tile.tile<4x8xf32>
  tile.store %e, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %low = arith.constant -1.0e30 : f32
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %m = tile.mask %a valid(2, 8) pad(min) : !tile.tile<4x8xf32>
  %max = tile.reduce max %m axis(1) : !tile.tile<4x1xf32>
  %top = tile.max %max, %low : !tile.tile<4x1xf32>
  %d = tile.sub %m, %top : !tile.tile<4x8xf32>
  %e = tile.exp %d : !tile.tile<4x8xf32>
  tile.store %e, %y[0, 0]
}
