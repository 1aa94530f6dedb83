// A workspace has 4 rows, one for each block; a fifth block has none.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/open.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- open.mlir
kiln.func @zero(%w: !kiln.tensor<4x16xf32> out) incore {
  %z = arith.constant 0.0 : f32
  %t = tile.full %z : !tile.tile<4x16xf32>
  tile.store %t, %w[0, 0]
}
kiln.func @part(%x: !kiln.tensor<?x16xf32> in, %w: !kiln.tensor<4x16xf32> inout) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  %s = tile.reduce sum %t axis(0) : !tile.tile<1x16xf32>
  // CHECK: incomplete: {{.*}}open.mlir:[[#@LINE+1]]:{{[0-9]+}}: tile.store: a tile of 1x16 at [4, 0] lies wholly outside 'w' (f32[4, 16])
  tile.store %s, %w[%b, 0]
}
kiln.func @sum(%w: !kiln.tensor<4x16xf32> in, %y: !kiln.tensor<1x16xf32> out) incore {
  %t = tile.load %w[0, 0] : !tile.tile<4x16xf32>
  %s = tile.reduce sum %t axis(0) : !tile.tile<1x16xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<1x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %w = kiln.alloc() : !kiln.tensor<4x16xf32>
  %a = kiln.submit @zero(%w)
  %b = kiln.submit @part(%x, %w) grid(%g)
  %c = kiln.submit @sum(%w, %y)
}

//--- right.mlir
kiln.func @zero(%w: !kiln.tensor<1x16xf32> out) incore {
  %z = arith.constant 0.0 : f32
  %t = tile.full %z : !tile.tile<1x16xf32>
  tile.store %t, %w[0, 0]
}
kiln.func @part(%x: !kiln.tensor<?x16xf32> in, %w: !kiln.tensor<1x16xf32> inout) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  %s = tile.reduce sum %t axis(0) : !tile.tile<1x16xf32>
  tile.store %s, %w[0, 0] atomic(add)
}
kiln.func @sum(%w: !kiln.tensor<1x16xf32> in, %y: !kiln.tensor<1x16xf32> out) incore {
  %t = tile.load %w[0, 0] : !tile.tile<1x16xf32>
  %s = tile.abs %t : !tile.tile<1x16xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<1x16xf32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %w = kiln.alloc() : !kiln.tensor<1x16xf32>
  %a = kiln.submit @zero(%w)
  %b = kiln.submit @part(%x, %w) grid(%g)
  %c = kiln.submit @sum(%w, %y)
}
