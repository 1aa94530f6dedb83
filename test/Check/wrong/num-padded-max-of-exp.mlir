// The exponential of a zero that is not there is a one that is not there.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %two = arith.constant 2.0 : f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %e = tile.exp %a : !tile.tile<16x8xf32>
  %s = tile.mul %e, %two : !tile.tile<16x8xf32>
  %m = tile.reduce max %s axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds 2 and would have to hold -inf (in k, block [0, 0, 0] of task 0)
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %two = arith.constant 2.0 : f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %e = tile.exp %a : !tile.tile<16x8xf32>
  %s = tile.mul %e, %two : !tile.tile<16x8xf32>
  %v = tile.mask %s valid(16, 5) pad(min) : !tile.tile<16x8xf32>
  %m = tile.reduce max %v axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
