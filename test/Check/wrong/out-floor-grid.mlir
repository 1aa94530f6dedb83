// One block for each whole tile: the rows of the last, ragged one are written by nobody.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: not %kiln run %t/wrong.mlir --arg x=20x16 --arg y=20x16 --no-reference | FileCheck %s --check-prefix=FAIL
// RUN: not %kiln run %t/wrong.mlir --arg x=20x16 --arg y=20x16 --no-reference -p a5sim | FileCheck %s --check-prefix=FAIL
// RUN: %kiln run %t/right.mlir --arg x=20x16 --arg y=20x16 --no-reference
// RIGHT: {{^}}CLEAN
// FAIL: y         nobody writes 64 of its 320 elements, the first at [16, 0]; declare it inout if what it held before shall stay
// FAIL: {{^}}FAIL

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x16xi32> in, %y: !kiln.tensor<?x16xi32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xi32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xi32> in, %y: !kiln.tensor<?x16xi32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.divsi %n, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: nobody writes elements [{{.*}}] of 'y' (i32[{{[0-9]+}}, 16]), which is out
  // CHECK: FINDINGS
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x16xi32> in, %y: !kiln.tensor<?x16xi32> out) incore {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %r = arith.muli %b, %c8 : index
  %t = tile.load %x[%r, 0] : !tile.tile<8x16xi32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xi32> in, %y: !kiln.tensor<?x16xi32> out) orchestration {
  %c8 = arith.constant 8 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c8 : index
  %t = kiln.submit @k(%x, %y) grid(%g)
}
