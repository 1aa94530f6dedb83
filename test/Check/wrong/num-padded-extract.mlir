// The half of a tile that has two of three columns.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=16x6 --arg y=16x1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=16x6 --arg y=16x1 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.extract %a[0, 4] : !tile.tile<16x4xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x4 tile only columns [0, 2) are data; column 2 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: filled up with 0 here; write pad(min)
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %b = tile.extract %a[0, 4] : !tile.tile<16x4xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
