// An integer has no infinity; its greatest value does.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=1x5 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=1x5 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xi32>, %y: !kiln.tensor<1x?xi32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xi32>
  %v = tile.reduce argmin %a axis(0) : !tile.tile<1x8xi32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the argmin over axis 0 includes padding: in column 0 of the 16x8 tile only rows [0, 10) are data; row 10 holds -2147483648 and would have to hold 2147483647
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with -2147483648 here; write pad(max)
  tile.store %v, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xi32>, %y: !kiln.tensor<1x?xi32> inout) incore {
  %a = tile.load %x[0, 0] pad(max) : !tile.tile<16x8xi32>
  %v = tile.reduce argmin %a axis(0) : !tile.tile<1x8xi32>
  tile.store %v, %y[0, 0]
}
