// Every block adds a tile to one sum in memory; the last one adds what it made of rows that do not exist.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @zero(%y: !kiln.tensor<8x16xf32> out) incore {
  %c = arith.constant 0.0 : f32
  %t = tile.full %c : !tile.tile<8x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @add(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<8x16xf32> inout) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  %e = tile.exp %t : !tile.tile<8x16xf32>
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.store adds padding to memory: in column 0 of the 8x16 tile only rows [0, {{[0-9]+}}) are data; row {{[0-9]+}} holds 1 and would have to hold 0
  tile.store %e, %y[0, 0] atomic(add)
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<8x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %s = kiln.submit @zero(%y)
  %t = kiln.submit @add(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @zero(%y: !kiln.tensor<8x16xf32> out) incore {
  %c = arith.constant 0.0 : f32
  %t = tile.full %c : !tile.tile<8x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @add(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<8x16xf32> inout) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[0, 0] atomic(add)
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<8x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %s = kiln.submit @zero(%y)
  %t = kiln.submit @add(%x, %y) grid(%g)
}
