// A workspace has as many rows as the least tensor that is allowed.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
  %e1 = kiln.dim %x, 0
  %e2 = kiln.dim %y, 0
  %e3 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e3, "same"
  %e4 = kiln.dim %x, 0
  %e5 = arith.constant 200 : index
  %e6 = arith.cmpi sge, %e4, %e5 : index
  %e7 = kiln.dim %x, 0
  %e8 = arith.constant 8 : index
  %e9 = arith.remsi %e7, %e8 : index
  %e10 = arith.constant 0 : index
  %e11 = arith.cmpi eq, %e9, %e10 : index
  %e12 = arith.andi %e6, %e11 : i1
  kiln.require %e12, "whole"
  %e13 = kiln.dim %x, 0
  %e14 = arith.constant 8 : index
  %g = arith.divsi %e13, %e14 : index
  %r = arith.constant 200 : index
  %w = kiln.alloc(%r) : !kiln.tensor<?x32xf32>
  %t = kiln.incore "k" grid(%g) {
    %e15 = tile.block_idx 0
    %e16 = arith.constant 8 : index
    %i = arith.muli %e15, %e16 : index
    %a = tile.load %x[%i, 0] : !tile.tile<8x32xf32>
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.store: a tile of 8x32 at [200, 0] lies wholly outside 'w' (f32[200, 32]) (in k, block
    tile.store %a, %w[%i, 0]
  }
  %t2 = kiln.incore "k2" grid(%g) {
    %e17 = tile.block_idx 0
    %e18 = arith.constant 8 : index
    %i = arith.muli %e17, %e18 : index
    %a = tile.load %w[%i, 0] : !tile.tile<8x32xf32>
    tile.store %a, %y[%i, 0]
  }
}

//--- right.mlir
kiln.func @main(%x: !kiln.tensor<?x32xf32> in, %y: !kiln.tensor<?x32xf32> out) orchestration {
  %e1 = kiln.dim %x, 0
  %e2 = kiln.dim %y, 0
  %e3 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e3, "same"
  %e4 = kiln.dim %x, 0
  %e5 = arith.constant 200 : index
  %e6 = arith.cmpi sge, %e4, %e5 : index
  %e7 = kiln.dim %x, 0
  %e8 = arith.constant 8 : index
  %e9 = arith.remsi %e7, %e8 : index
  %e10 = arith.constant 0 : index
  %e11 = arith.cmpi eq, %e9, %e10 : index
  %e12 = arith.andi %e6, %e11 : i1
  kiln.require %e12, "whole"
  %e13 = kiln.dim %x, 0
  %e14 = arith.constant 8 : index
  %g = arith.divsi %e13, %e14 : index
  %e15 = arith.constant 8 : index
  %r = arith.muli %g, %e15 : index
  %w = kiln.alloc(%r) : !kiln.tensor<?x32xf32>
  %t = kiln.incore "k" grid(%g) {
    %e16 = tile.block_idx 0
    %e17 = arith.constant 8 : index
    %i = arith.muli %e16, %e17 : index
    %a = tile.load %x[%i, 0] : !tile.tile<8x32xf32>
    tile.store %a, %w[%i, 0]
  }
  %t2 = kiln.incore "k2" grid(%g) {
    %e18 = tile.block_idx 0
    %e19 = arith.constant 8 : index
    %i = arith.muli %e18, %e19 : index
    %a = tile.load %w[%i, 0] : !tile.tile<8x32xf32>
    tile.store %a, %y[%i, 0]
  }
}
