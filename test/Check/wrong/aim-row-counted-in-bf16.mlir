// A bf16 counts to 256: the block after it has the row of another one.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %b = tile.block_idx 0
  %i = arith.index_cast %b : index to i32
  %f = arith.sitofp %i : i32 to bf16
  %j = arith.fptosi %f : bf16 to i32
  %at = arith.index_cast %j : i32 to index
  %t = tile.load %x[%b, 0] : !tile.tile<1x16xf32>
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: race: block {{.*}} writes element [256, 0] of 'y'
  tile.store %t, %y[%at, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %n = kiln.dim %x, 0
  %t = kiln.submit @k(%x, %y) grid(%n)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %b = tile.block_idx 0
  %i = arith.index_cast %b : index to i32
  %f = arith.sitofp %i : i32 to f32
  %j = arith.fptosi %f : f32 to i32
  %at = arith.index_cast %j : i32 to index
  %t = tile.load %x[%b, 0] : !tile.tile<1x16xf32>
  tile.store %t, %y[%at, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %n = kiln.dim %x, 0
  %t = kiln.submit @k(%x, %y) grid(%n)
}
