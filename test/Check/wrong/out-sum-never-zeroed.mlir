// Blocks add to a sum that nobody sets to zero, and the program does not say whether the caller does.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/open.mlir; test $? = 3' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- open.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<1x16xf32> inout) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  %s = tile.reduce sum %t axis(0) : !tile.tile<1x16xf32>
  // CHECK: incomplete: {{.*}}open.mlir:[[#@LINE+2]]:3: adds to element [0, 0] of 'y' (f32[1, 16]), which nobody has set and whose direction in the entry is not declared
  // CHECK-NEXT: declare it inout if the sum starts from what the caller put there; or declare it out and store zeros first
  tile.store %s, %y[0, 0] atomic(add)
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<1x16xf32>) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<1x16xf32> inout) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xf32>
  %s = tile.reduce sum %t axis(0) : !tile.tile<1x16xf32>
  tile.store %s, %y[0, 0] atomic(add)
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<1x16xf32> inout) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g)
}
