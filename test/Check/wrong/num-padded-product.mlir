// A product with a zero is 0.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %v = tile.reduce prod %a axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the product over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds 0 and would have to hold 1
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with 0 here; write pad(1.0)
  tile.store %v, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(1.0) : !tile.tile<16x8xf32>
  %v = tile.reduce prod %a axis(1) : !tile.tile<16x1xf32>
  tile.store %v, %y[0, 0]
}
