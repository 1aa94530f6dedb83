// The second block begins at row 32 instead of 16. y has two rows less than x.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
  %e1 = kiln.dim %y, 0
  %e2 = kiln.dim %x, 0
  %e3 = arith.constant 2 : index
  %e4 = arith.subi %e2, %e3 : index
  %e5 = arith.cmpi eq, %e1, %e4 : index
  kiln.require %e5, "y is two rows shorter"
  %e6 = kiln.dim %y, 0
  %e7 = arith.constant 16 : index
  %g = arith.ceildivsi %e6, %e7 : index
  %t = kiln.incore "k" grid(%g) {
    %e8 = tile.block_idx 0
    %e9 = arith.constant 32 : index
    %i = arith.muli %e8, %e9 : index
    %e10 = arith.constant 1 : index
    %i1 = arith.addi %i, %e10 : index
    %e11 = arith.constant 2 : index
    %i2 = arith.addi %i, %e11 : index
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.load: a tile of 16x32 at [32, 0] lies wholly outside 'x' (f32[32, 32]) (in k, block [
    %a = tile.load %x[%i, 0] : !tile.tile<16x32xf32>
    %b = tile.load %x[%i1, 0] : !tile.tile<16x32xf32>
    %c = tile.load %x[%i2, 0] : !tile.tile<16x32xf32>
    %d = tile.add %a, %b : !tile.tile<16x32xf32>
    %e = tile.add %d, %c : !tile.tile<16x32xf32>
    tile.store %e, %y[%i, 0]
  }
}

//--- right.mlir
kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
  %e1 = kiln.dim %y, 0
  %e2 = kiln.dim %x, 0
  %e3 = arith.constant 2 : index
  %e4 = arith.subi %e2, %e3 : index
  %e5 = arith.cmpi eq, %e1, %e4 : index
  kiln.require %e5, "y is two rows shorter"
  %e6 = kiln.dim %y, 0
  %e7 = arith.constant 16 : index
  %g = arith.ceildivsi %e6, %e7 : index
  %t = kiln.incore "k" grid(%g) {
    %e8 = tile.block_idx 0
    %e9 = arith.constant 16 : index
    %i = arith.muli %e8, %e9 : index
    %e10 = arith.constant 1 : index
    %i1 = arith.addi %i, %e10 : index
    %e11 = arith.constant 2 : index
    %i2 = arith.addi %i, %e11 : index
    %a = tile.load %x[%i, 0] : !tile.tile<16x32xf32>
    %b = tile.load %x[%i1, 0] : !tile.tile<16x32xf32>
    %c = tile.load %x[%i2, 0] : !tile.tile<16x32xf32>
    %d = tile.add %a, %b : !tile.tile<16x32xf32>
    %e = tile.add %d, %c : !tile.tile<16x32xf32>
    tile.store %e, %y[%i, 0]
  }
}
