// A barrier among more blocks than the machine runs at once waits forever. Kiln tries extents that give so many.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %m: !kiln.tensor<?x16xf32> out, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %m[%r, 0]
  tile.barrier
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %m: !kiln.tensor<?x16xf32> out, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: a launch with sync_start starts 25 blocks at once, but a2a3sim has 24 core groups
  %t = kiln.submit @k(%x, %m, %y) grid(%g) sync_start
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<192x16xf32> in, %m: !kiln.tensor<192x16xf32> out, %y: !kiln.tensor<192x16xf32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %m[%r, 0]
  tile.barrier
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<192x16xf32> in, %m: !kiln.tensor<192x16xf32> out, %y: !kiln.tensor<192x16xf32> out) orchestration {
  %t = kiln.submit @k(%x, %m, %y) grid(24) sync_start
}
