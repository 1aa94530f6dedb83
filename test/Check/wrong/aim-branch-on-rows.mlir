// Beyond 700 rows another way of counting blocks forgets the ragged one. No tile is so large.
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
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %up = arith.ceildivsi %n, %c8 : index
  %most = arith.constant 700 : index
  %many = arith.cmpi sgt, %n, %most : index
  %down = arith.divsi %n, %c8 : index
  %g = arith.select %many, %down, %up : index
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [{{.*}}] of 'y' (f32[70
  %t = kiln.submit @rows(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @rows(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %up = arith.ceildivsi %n, %c8 : index
  %most = arith.constant 700 : index
  %many = arith.cmpi sgt, %n, %most : index
  %c7 = arith.constant 7 : index
  %more = arith.addi %n, %c7 : index
  %down = arith.divsi %more, %c8 : index
  %g = arith.select %many, %down, %up : index
  %t = kiln.submit @rows(%x, %y) grid(%g)
}
