// Columns beyond a tile of 320 are not written.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<16x?xf32> in, %y: !kiln.tensor<16x?xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x320xf32>
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [0:16, 320:321] of 'y'
  tile.store %t, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<16x?xf32> in, %y: !kiln.tensor<16x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c320 = arith.constant 320 : index
  %n = kiln.dim %x, 1
  scf.for %c = %c0 to %n step %c320 {
    %t = tile.load %x[0, %c] : !tile.tile<16x320xf32>
    tile.store %t, %y[0, %c]
  }
}
