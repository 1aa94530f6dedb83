// Running sums across padding between data; behind the data it harms nobody.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=16x6 --arg y=16x6 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=16x6 --arg y=16x6 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: %kiln run %t/right-behind.mlir --seeds 2 --arg x=16x6 --arg y=16x6 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %kiln run %t/reverse.mlir --seeds 2 --arg x=16x6 --arg y=16x6 --no-reference 2>&1 | FileCheck %s --check-prefix=REVERSE
// RUN: %kiln run %t/right-reverse.mlir --seeds 2 --arg x=16x6 --arg y=16x6 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(1.0) : !tile.tile<16x8xf32>
  %b = tile.concat %a, %a axis(1) : !tile.tile<16x16xf32>
  %s = tile.scan sum %b axis(1) : !tile.tile<16x16xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the running sum over axis 1 includes padding: in row 0 of the 16x16 tile
  tile.store %s, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.concat %a, %a axis(1) : !tile.tile<16x16xf32>
  %s = tile.scan sum %b axis(1) : !tile.tile<16x16xf32>
  tile.store %s, %y[0, 0]
}

//--- right-behind.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(1.0) : !tile.tile<16x8xf32>
  %s = tile.scan sum %a axis(1) : !tile.tile<16x8xf32>
  tile.store %s, %y[0, 0]
}

// From the end the padding comes first.
//--- reverse.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %s = tile.scan max %a axis(1) exclusive reverse : !tile.tile<16x8xf32>
  // REVERSE: reverse.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the running maximum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 6) are data; column 7 holds 0 and would have to hold -inf
  tile.store %s, %y[0, 0]
}

//--- right-reverse.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %s = tile.scan max %a axis(1) exclusive reverse : !tile.tile<16x8xf32>
  tile.store %s, %y[0, 0]
}
