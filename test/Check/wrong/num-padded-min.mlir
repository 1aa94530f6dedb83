// Rows are padding as well as columns.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=1x5 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=1x5 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %m = tile.reduce min %a axis(0) : !tile.tile<1x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the minimum over axis 0 includes padding: in column 0 of the 16x8 tile only rows [0, 10) are data; row 10 holds 0 and would have to hold inf (in k, block [0, 0, 0] of task 0)
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(max) : !tile.tile<16x8xf32>
  %m = tile.reduce min %a axis(0) : !tile.tile<1x8xf32>
  tile.store %m, %y[0, 0]
}
