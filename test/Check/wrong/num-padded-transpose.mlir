// Columns become rows, and so does their padding.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.transpose %a : !tile.tile<8x16xf32>
  %m = tile.reduce max %b axis(0) : !tile.tile<1x16xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 0 includes padding: in column 0 of the 8x16 tile only rows [0, 5) are data; row 5 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: filled up with 0 here; write pad(min)
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %b = tile.transpose %a : !tile.tile<8x16xf32>
  %m = tile.reduce max %b axis(0) : !tile.tile<1x16xf32>
  tile.store %m, %y[0, 0]
}
