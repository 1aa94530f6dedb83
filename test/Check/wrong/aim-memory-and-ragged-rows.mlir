// Only where a number in memory is 5 is the ragged block forgotten.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @rows(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %f: !kiln.tensor<4xi32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %c5 = arith.constant 5 : i32
  %n = kiln.dim %x, 0
  %v = kiln.get %f[2] : i32
  %is = arith.cmpi eq, %v, %c5 : i32
  scf.if %is {
    %g = arith.divsi %n, %c8 : index
    // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [{{.*}}] of 'y'
    %t = kiln.submit @rows(%x, %y) grid(%g)
  } else {
    %g = arith.ceildivsi %n, %c8 : index
    %t = kiln.submit @rows(%x, %y) grid(%g)
  }
}

//--- right.mlir
kiln.func @rows(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %f: !kiln.tensor<4xi32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %c5 = arith.constant 5 : i32
  %n = kiln.dim %x, 0
  %v = kiln.get %f[2] : i32
  %is = arith.cmpi eq, %v, %c5 : i32
  scf.if %is {
    %g = arith.ceildivsi %n, %c8 : index
    %t = kiln.submit @rows(%x, %y) grid(%g)
  } else {
    %g = arith.ceildivsi %n, %c8 : index
    %t = kiln.submit @rows(%x, %y) grid(%g)
  }
}
