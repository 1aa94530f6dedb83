// A number in memory that is 5 leaves the output open.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %f: !kiln.tensor<4xi32> in, %y: !kiln.tensor<16x16xf32> out) orchestration {
  %c = arith.constant 5 : i32
  %v = kiln.get %f[2] : i32
  %is = arith.cmpi eq, %v, %c : i32
  scf.if %is {
  } else {
    // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [0:16, 0:16] of 'y'
    %t = kiln.submit @copy(%x, %y)
  }
}

//--- right.mlir
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %f: !kiln.tensor<4xi32> in, %y: !kiln.tensor<16x16xf32> out) orchestration {
  %c = arith.constant 5 : i32
  %v = kiln.get %f[2] : i32
  %is = arith.cmpi eq, %v, %c : i32
  scf.if %is {
    %t = kiln.submit @copy(%x, %y)
  } else {
    %t = kiln.submit @copy(%x, %y)
  }
}
