// At most 12 blocks are launched; more than 96 rows are not written.
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
  %most = arith.constant 12 : index
  %g = arith.minsi %up, %most : index
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [96:
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
  %most = arith.constant 96 : index
  %few = arith.cmpi sle, %n, %most : index
  kiln.require %few, "at most 96 rows"
  %m = kiln.dim %y, 0
  %same = arith.cmpi eq, %n, %m : index
  kiln.require %same, "as many rows"
  %blocks = arith.constant 12 : index
  %g = arith.minsi %up, %blocks : index
  %t = kiln.submit @rows(%x, %y) grid(%g)
}
