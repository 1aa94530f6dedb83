// 7 blocks of 8 rows take turns, but each goes on after 6: two write the same rows, from the 49th on.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %step = arith.constant 48 : index
  %b = tile.block_idx 0
  %n = kiln.dim %x, 0
  %r = arith.muli %b, %c8 : index
  scf.for %i = %r to %n step %step {
    %t = tile.load %x[%i, 0] : !tile.tile<8x16xf32>
    // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: race: block [{{[0-9]+}}, 0, 0] writes element [{{[0-9]+}}, 0] of 'y'
    tile.store %t, %y[%i, 0]
  }
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %t = kiln.submit @k(%x, %y) grid(7)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %step = arith.constant 56 : index
  %b = tile.block_idx 0
  %n = kiln.dim %x, 0
  %r = arith.muli %b, %c8 : index
  scf.for %i = %r to %n step %step {
    %t = tile.load %x[%i, 0] : !tile.tile<8x16xf32>
    tile.store %t, %y[%i, 0]
  }
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %t = kiln.submit @k(%x, %y) grid(7)
}
