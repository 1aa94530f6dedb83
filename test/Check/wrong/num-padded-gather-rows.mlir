// A list of four rows in a tile of eight.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x8 --arg n=4:iota --arg y=1x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x8 --arg n=4:iota --arg y=1x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %n: !kiln.tensor<4xi32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.gather_rows %x[0, 0] rows(%n[0]) : !tile.tile<8x8xf32>
  %m = tile.reduce max %a axis(0) : !tile.tile<1x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 0 includes padding: in column 0 of the 8x8 tile only rows [0, 4) are data; row 4 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with 0 here; write pad(min)
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %n: !kiln.tensor<4xi32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.gather_rows %x[0, 0] rows(%n[0]) pad(min) : !tile.tile<8x8xf32>
  %m = tile.reduce max %a axis(0) : !tile.tile<1x8xf32>
  tile.store %m, %y[0, 0]
}
