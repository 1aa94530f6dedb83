// Every block writes its partial sums to row 0. There is a row for each block.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %p: !kiln.tensor<?x32xf32> out) orchestration {
  %e1 = kiln.dim %p, 0
  %e3 = kiln.dim %x, 0
  %e4 = arith.constant 16 : index
  %e2 = arith.ceildivsi %e3, %e4 : index
  %e5 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e5, "one row for each block"
  %e6 = kiln.dim %x, 0
  %e7 = arith.constant 16 : index
  %g = arith.ceildivsi %e6, %e7 : index
  %t = kiln.incore "k" grid(%g) {
    %e8 = tile.block_idx 0
    %e9 = arith.constant 0 : index
    %b = arith.muli %e8, %e9 : index
    %e10 = tile.block_idx 0
    %e11 = arith.constant 0 : index
    %b1 = arith.addi %e10, %e11 : index
    %e12 = arith.constant 16 : index
    %i = arith.muli %b1, %e12 : index
    %a = tile.load %x[%i, 0] : !tile.tile<16x32xf32>
    %s = tile.reduce sum %a axis(0) : !tile.tile<1x32xf32>
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: race: block [1, 0, 0] writes element [0, 0] of 'p' (f32[2, 32]), which block [0, 0, 0] of 
    tile.store %s, %p[%b, 0]
  }
}

//--- right.mlir
kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %p: !kiln.tensor<?x32xf32> out) orchestration {
  %e1 = kiln.dim %p, 0
  %e3 = kiln.dim %x, 0
  %e4 = arith.constant 16 : index
  %e2 = arith.ceildivsi %e3, %e4 : index
  %e5 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e5, "one row for each block"
  %e6 = kiln.dim %x, 0
  %e7 = arith.constant 16 : index
  %g = arith.ceildivsi %e6, %e7 : index
  %t = kiln.incore "k" grid(%g) {
    %e8 = tile.block_idx 0
    %e9 = arith.constant 1 : index
    %b = arith.muli %e8, %e9 : index
    %e10 = tile.block_idx 0
    %e11 = arith.constant 0 : index
    %b1 = arith.addi %e10, %e11 : index
    %e12 = arith.constant 16 : index
    %i = arith.muli %b1, %e12 : index
    %a = tile.load %x[%i, 0] : !tile.tile<16x32xf32>
    %s = tile.reduce sum %a axis(0) : !tile.tile<1x32xf32>
    tile.store %s, %p[%b, 0]
  }
}
