// Blocks of 16 rows begin every 8 rows. The rows of y are those of a and b together, so no extent can change alone.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<?x32xf32>, %y: !kiln.tensor<?x32xf32>, %o: index) incore {
  %e1 = tile.block_idx 0
  %e2 = arith.constant 8 : index
  %i = arith.muli %e1, %e2 : index
  %a = tile.load %x[%i, 0] : !tile.tile<16x32xf32>
  %to = arith.addi %i, %o : index
  %e3 = kiln.dim %x, 0
  %left = arith.subi %e3, %i : index
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: race: block [1, 0, 0] writes element [8, 0] of 'y' (f32[64, 32]), which block [0, 0, 0] of
  tile.store %a, %y[%to, 0] valid(%left, 32)
}
kiln.func @main(%a: !kiln.tensor<?x32xf32> in, %b: !kiln.tensor<?x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
  %e4 = kiln.dim %y, 0
  %e5 = kiln.dim %a, 0
  %e6 = kiln.dim %b, 0
  %e7 = arith.addi %e5, %e6 : index
  %e8 = arith.cmpi eq, %e4, %e7 : index
  kiln.require %e8, "y is a, then b"
  %e9 = kiln.dim %a, 0
  %e10 = arith.constant 8 : index
  %g = arith.ceildivsi %e9, %e10 : index
  %e11 = kiln.dim %b, 0
  %e12 = arith.constant 8 : index
  %h = arith.ceildivsi %e11, %e12 : index
  %o0 = arith.constant 0 : index
  %e13 = kiln.dim %a, 0
  %e14 = arith.constant 0 : index
  %o = arith.addi %e13, %e14 : index
  %s = kiln.submit @copy(%a, %y, %o0) grid(%g)
  %t = kiln.submit @copy(%b, %y, %o) grid(%h)
}

//--- right.mlir
kiln.func @copy(%x: !kiln.tensor<?x32xf32>, %y: !kiln.tensor<?x32xf32>, %o: index) incore {
  %e1 = tile.block_idx 0
  %e2 = arith.constant 8 : index
  %i = arith.muli %e1, %e2 : index
  %a = tile.load %x[%i, 0] : !tile.tile<8x32xf32>
  %to = arith.addi %i, %o : index
  %e3 = kiln.dim %x, 0
  %left = arith.subi %e3, %i : index
  tile.store %a, %y[%to, 0] valid(%left, 32)
}
kiln.func @main(%a: !kiln.tensor<?x32xf32> in, %b: !kiln.tensor<?x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
  %e4 = kiln.dim %y, 0
  %e5 = kiln.dim %a, 0
  %e6 = kiln.dim %b, 0
  %e7 = arith.addi %e5, %e6 : index
  %e8 = arith.cmpi eq, %e4, %e7 : index
  kiln.require %e8, "y is a, then b"
  %e9 = kiln.dim %a, 0
  %e10 = arith.constant 8 : index
  %g = arith.ceildivsi %e9, %e10 : index
  %e11 = kiln.dim %b, 0
  %e12 = arith.constant 8 : index
  %h = arith.ceildivsi %e11, %e12 : index
  %o0 = arith.constant 0 : index
  %e13 = kiln.dim %a, 0
  %e14 = arith.constant 0 : index
  %o = arith.addi %e13, %e14 : index
  %s = kiln.submit @copy(%a, %y, %o0) grid(%g)
  %t = kiln.submit @copy(%b, %y, %o) grid(%h)
}
