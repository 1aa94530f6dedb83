// A constant in the place of padding is padding still, with another value.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %n = kiln.dim %x, 1
  %ni = arith.index_cast %n : index to i32
  %pad = arith.constant -2.0 : f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %col = tile.iota axis(1) : !tile.tile<1x8xi32>
  %inside = tile.cmp lt %col, %ni : !tile.tile<1x8xi1>
  %b = tile.select %inside, %a, %pad : !tile.tile<16x8xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds -2 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-6]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(16, N) pad(min) before the maximum, where N is how many columns are data, here 5
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %n = kiln.dim %x, 1
  %ni = arith.index_cast %n : index to i32
  %pad = arith.constant -1.0e30 : f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %col = tile.iota axis(1) : !tile.tile<1x8xi32>
  %inside = tile.cmp lt %col, %ni : !tile.tile<1x8xi1>
  %b = tile.select %inside, %a, %pad : !tile.tile<16x8xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
