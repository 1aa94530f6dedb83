// At most 9 heads are copied.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @heads(%x: !kiln.tensor<?x16x16xf32> in, %y: !kiln.tensor<?x16x16xf32> out) incore {
  %b = tile.block_idx 0
  %t = tile.load %x[%b, 0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[%b, 0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16x16xf32> in, %y: !kiln.tensor<?x16x16xf32> out) orchestration {
  %n = kiln.dim %x, 0
  %most = arith.constant 9 : index
  %few = arith.cmpi slt, %n, %most : index
  %g = arith.select %few, %n, %most : index
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [9:10, 0:16, 0:16] of 'y'
  %t = kiln.submit @heads(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @heads(%x: !kiln.tensor<?x16x16xf32> in, %y: !kiln.tensor<?x16x16xf32> out) incore {
  %b = tile.block_idx 0
  %t = tile.load %x[%b, 0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[%b, 0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16x16xf32> in, %y: !kiln.tensor<?x16x16xf32> out) orchestration {
  %n = kiln.dim %x, 0
  %t = kiln.submit @heads(%x, %y) grid(%n)
}
