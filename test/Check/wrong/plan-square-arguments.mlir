// Rows and columns that are equal in the arguments vary apart, too: the grid has them swapped.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir --arg x=40x40 --arg y=40x40 | FileCheck %s
// RUN: %kiln check %t/right.mlir --arg x=40x40 --arg y=40x40 | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN
// CHECK: error: tile.store: a tile of 16x16 at [32, 0] lies wholly outside 'y' (f32[17, 40])
// CHECK: FINDINGS

//--- wrong.mlir
kiln.func @twice(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c16 = arith.constant 16 : index
  %i = tile.block_idx 0
  %j = tile.block_idx 1
  %row = arith.muli %i, %c16 : index
  %col = arith.muli %j, %c16 : index
  %t = tile.load %x[%row, %col] outside : !tile.tile<16x16xf32>
  %u = tile.add %t, %t : !tile.tile<16x16xf32>
  tile.store %u, %y[%row, %col]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c16 = arith.constant 16 : index
  %rows = kiln.dim %x, 0
  %cols = kiln.dim %x, 1
  %m = kiln.dim %y, 0
  %n = kiln.dim %y, 1
  %a = arith.cmpi eq, %rows, %m : index
  %b = arith.cmpi eq, %cols, %n : index
  %same = arith.andi %a, %b : i1
  kiln.require %same, "one shape"
  %g = arith.ceildivsi %rows, %c16 : index
  %h = arith.ceildivsi %cols, %c16 : index
  %t = kiln.submit @twice(%x, %y) grid(%h, %g)
}

//--- right.mlir
kiln.func @twice(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c16 = arith.constant 16 : index
  %i = tile.block_idx 0
  %j = tile.block_idx 1
  %row = arith.muli %i, %c16 : index
  %col = arith.muli %j, %c16 : index
  %t = tile.load %x[%row, %col] outside : !tile.tile<16x16xf32>
  %u = tile.add %t, %t : !tile.tile<16x16xf32>
  tile.store %u, %y[%row, %col]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %c16 = arith.constant 16 : index
  %rows = kiln.dim %x, 0
  %cols = kiln.dim %x, 1
  %m = kiln.dim %y, 0
  %n = kiln.dim %y, 1
  %a = arith.cmpi eq, %rows, %m : index
  %b = arith.cmpi eq, %cols, %n : index
  %same = arith.andi %a, %b : i1
  kiln.require %same, "one shape"
  %g = arith.ceildivsi %rows, %c16 : index
  %h = arith.ceildivsi %cols, %c16 : index
  %t = kiln.submit @twice(%x, %y) grid(%g, %h)
}
