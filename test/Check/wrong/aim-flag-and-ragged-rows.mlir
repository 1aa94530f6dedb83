// Only without the flag is the ragged block forgotten: neither the flag nor the rows alone show it.
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
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %flag: i1, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  scf.if %flag {
    %g = arith.ceildivsi %n, %c8 : index
    %t = kiln.submit @rows(%x, %y) grid(%g)
  } else {
    %g = arith.divsi %n, %c8 : index
    // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: nobody writes elements [{{.*}}] of 'y'
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
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %flag: i1, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  scf.if %flag {
    %g = arith.ceildivsi %n, %c8 : index
    %t = kiln.submit @rows(%x, %y) grid(%g)
  } else {
    %g = arith.ceildivsi %n, %c8 : index
    %t = kiln.submit @rows(%x, %y) grid(%g)
  }
}
