// Columns in reverse order: padding comes first.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c7 = arith.constant 7 : i32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %col = tile.iota axis(1) : !tile.tile<16x8xi32>
  %back = tile.sub %c7, %col : !tile.tile<16x8xi32>
  %b = tile.gather %a, %back axis(1) : !tile.tile<16x8xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [3, 8) are data; column 0 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-6]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: replace it by -inf before the maximum, with a tile.select
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c7 = arith.constant 7 : i32
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %col = tile.iota axis(1) : !tile.tile<16x8xi32>
  %back = tile.sub %c7, %col : !tile.tile<16x8xi32>
  %b = tile.gather %a, %back axis(1) : !tile.tile<16x8xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
