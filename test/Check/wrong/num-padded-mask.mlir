// A mask with zeros pads like a load.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %z = tile.mask %a valid(16, 3) : !tile.tile<16x8xf32>
  %m = tile.reduce max %z axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 3) are data; column 3 holds 0 and would have to hold -inf (in k, block [0, 0, 0] of task 0)
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with 0 here; write pad(min)
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %z = tile.mask %a valid(16, 3) : !tile.tile<16x8xf32>
  %m = tile.reduce sum %z axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
