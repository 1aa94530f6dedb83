// What is inserted brings its padding; the constant around it is what the program wants.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %low = arith.constant -3.0 : f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %into = tile.full %low : !tile.tile<16x16xf32>
  %b = tile.insert %a, %into[0, 8] : !tile.tile<16x16xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x16 tile only columns [0, 13) are data; column 13 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-5]]:{{[0-9]+}}: note: filled up with 0 here
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %low = arith.constant -3.0 : f32
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %into = tile.full %low : !tile.tile<16x16xf32>
  %b = tile.insert %a, %into[0, 8] : !tile.tile<16x16xf32>
  %m = tile.reduce max %b axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
