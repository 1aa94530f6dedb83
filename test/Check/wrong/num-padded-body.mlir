// A body that combines padding with data; padding that the body leaves out harms nobody.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir --as-given --seeds 2 --arg x=16x6 --arg y=16x1 2>&1 | FileCheck %s
// RUN: not %kiln check %t/scan.mlir --as-given --seeds 2 --arg x=16x6 --arg y=16x8 2>&1 | FileCheck %s --check-prefix=SCAN
// RUN: %kiln check %t/right.mlir --as-given --seeds 2 --arg x=16x6 --arg y=16x1 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: %kiln check %t/right-behind.mlir --as-given --seeds 2 --arg x=16x6 --arg y=16x6 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %one = arith.constant 1.0 : f32
  %s = tile.reduce_with %t axis(1) start(%one) {
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.reduce_with over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 6) are data; column 6 holds 0 and would have to hold some P that the body leaves out
  // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: filled up with 0 here; write pad(P)
  ^combine(%a: !tile.tile<16x1xf32>, %b: !tile.tile<16x1xf32>):
    %c = tile.mul %a, %b : !tile.tile<16x1xf32>
    tile.yield %c
  } : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}

//--- scan.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %t = tile.load %x[0, 0] pad(2.0) : !tile.tile<16x8xf32>
  %one = arith.constant 1.0 : f32
  %s = tile.scan_with %t axis(1) start(%one) reverse {
  // SCAN: scan.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.scan_with over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 6) are data; column 6 holds 2 and would have to hold some P that the body leaves out
  ^combine(%a: !tile.tile<16x1xf32>, %b: !tile.tile<16x1xf32>):
    %c = tile.mul %a, %b : !tile.tile<16x1xf32>
    tile.yield %c
  } : !tile.tile<16x8xf32>
  tile.store %s, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %t = tile.load %x[0, 0] pad(1.0) : !tile.tile<16x8xf32>
  %one = arith.constant 1.0 : f32
  %s = tile.reduce_with %t axis(1) start(%one) {
  ^combine(%a: !tile.tile<16x1xf32>, %b: !tile.tile<16x1xf32>):
    %c = tile.mul %a, %b : !tile.tile<16x1xf32>
    tile.yield %c
  } : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}

// A scan meets the padding after the data.
//--- right-behind.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %t = tile.load %x[0, 0] pad(2.0) : !tile.tile<16x8xf32>
  %one = arith.constant 1.0 : f32
  %s = tile.scan_with %t axis(1) start(%one) {
  ^combine(%a: !tile.tile<16x1xf32>, %b: !tile.tile<16x1xf32>):
    %c = tile.mul %a, %b : !tile.tile<16x1xf32>
    tile.yield %c
  } : !tile.tile<16x8xf32>
  tile.store %s, %y[0, 0]
}
