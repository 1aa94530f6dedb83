// The store leaves out the last row of the tensor.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<16x16xi32> in, %y: !kiln.tensor<16x16xi32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xi32>
  tile.store %t, %y[0, 0] valid(15, 16)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: nobody writes elements [15:16, 0:16] of 'y' (i32[16, 16]), which is out: 16 of 256 elements are not written
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<16x16xi32> in, %y: !kiln.tensor<16x16xi32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xi32>
  tile.store %t, %y[0, 0] valid(16, 16)
}
