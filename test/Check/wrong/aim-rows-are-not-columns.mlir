// A transpose that takes the number of rows for that of columns is right for squares alone.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %c = tile.block_idx 1
  %r = arith.muli %b, %c8 : index
  %s = arith.muli %c, %c8 : index
  %t = tile.load %x[%r, %s] : !tile.tile<8x8xf32>
  %u = tile.transpose %t : !tile.tile<8x8xf32>
  tile.store %u, %y[%s, %r]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %m = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %h = arith.ceildivsi %m, %c8 : index
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [8:9, 0:8] of 'y' (f32[9, 8])
  %t = kiln.submit @k(%x, %y) grid(%g, %h)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %c = tile.block_idx 1
  %r = arith.muli %b, %c8 : index
  %s = arith.muli %c, %c8 : index
  %t = tile.load %x[%r, %s] : !tile.tile<8x8xf32>
  %u = tile.transpose %t : !tile.tile<8x8xf32>
  tile.store %u, %y[%s, %r]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %m = kiln.dim %x, 1
  %g = arith.ceildivsi %n, %c8 : index
  %h = arith.ceildivsi %m, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g, %h)
}
