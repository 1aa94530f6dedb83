// The grid has one dimension, the kernel reads its index in two.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 1
  %c = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %s = arith.muli %c, %c8 : index
  %t = tile.load %x[%r, %s] : !tile.tile<8x8xf32>
  tile.store %t, %y[%r, %s]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %m = kiln.dim %x, 1
  %h = arith.ceildivsi %m, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%h)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: nobody writes elements [8:9, 0:8] of 'y' (f32[9, 8]), which is out: 8 of 72 elements are not written
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 1
  %c = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %s = arith.muli %c, %c8 : index
  %t = tile.load %x[%r, %s] : !tile.tile<8x8xf32>
  tile.store %t, %y[%r, %s]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %m = kiln.dim %x, 1
  %g = arith.ceildivsi %n, %c8 : index
  %h = arith.ceildivsi %m, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%h, %g)
}
