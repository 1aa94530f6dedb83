// The load serves a sum as well, so another pad value there would harm that.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %s = tile.reduce sum %a axis(1) : !tile.tile<16x1xf32>
  %n = kiln.dim %x, 1
  %m = tile.reduce max %a axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-5]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(16, N) pad(min) before the maximum, where N is how many columns are data, here 5
  %q = tile.div %m, %s : !tile.tile<16x1xf32>
  tile.store %q, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %s = tile.reduce sum %a axis(1) : !tile.tile<16x1xf32>
  %n = kiln.dim %x, 1
  %b = tile.mask %a valid(16, %n) pad(min) : !tile.tile<16x8xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  %q = tile.div %m, %s : !tile.tile<16x1xf32>
  tile.store %q, %y[0, 0]
}
