// The position of the maximum may be none of the row.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x1 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x1xi32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %v = tile.reduce argmax %a axis(1) : !tile.tile<16x1xi32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the argmax over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with 0 here; write pad(min)
  tile.store %v, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x1xi32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %v = tile.reduce argmax %a axis(1) : !tile.tile<16x1xi32>
  tile.store %v, %y[0, 0]
}
