// The row of a block is computed in 8 bits, which overflow in the 17th block.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/open.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- open.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : i8
  %b = tile.block_idx 0
  %bi = arith.index_cast %b : index to i8
  %ri = arith.muli %bi, %c8 : i8
  %r = arith.index_cast %ri : i8 to index
  // CHECK: incomplete: {{.*}}open.mlir:[[#@LINE+1]]:{{[0-9]+}}: tile.load: a tile of 8x16 at [-128, 0] lies wholly outside 'x'
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %c8 = arith.constant 8 : i64
  %b = tile.block_idx 0
  %bi = arith.index_cast %b : index to i64
  %ri = arith.muli %bi, %c8 : i64
  %r = arith.index_cast %ri : i64 to index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g)
}
