// Once a program requires something, nothing but a require ties the shapes of its tensors.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
// CHECK: error: nobody writes elements
// CHECK: note: 'x' and 'y' have different shapes here, and nothing in the program forbids it; if they must be equal, say require_same_shape(x, y, "..."), in text kiln.require
kiln.func @rows(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %rest = arith.remsi %n, %c8 : index
  %whole = arith.cmpi eq, %rest, %c0 : index
  kiln.require %whole, "rows come in eights"

  %g = arith.divsi %n, %c8 : index
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
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %rest = arith.remsi %n, %c8 : index
  %whole = arith.cmpi eq, %rest, %c0 : index
  kiln.require %whole, "rows come in eights"
  %m = kiln.dim %y, 0
  %same = arith.cmpi eq, %n, %m : index
  kiln.require %same, "as many rows"
  %g = arith.divsi %n, %c8 : index
  %t = kiln.submit @rows(%x, %y) grid(%g)
}
