// Two blocks take turns with a workspace, as if there were no third.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %e1 = kiln.dim %x, 0
  %e2 = kiln.dim %y, 0
  %e3 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e3, "same"
  %e4 = kiln.dim %x, 0
  %e5 = arith.constant 16 : index
  %g = arith.ceildivsi %e4, %e5 : index
  %w = kiln.alloc(%g) : !kiln.tensor<?x16x16xf32>
  %t = kiln.incore "k" grid(%g) {
    %e6 = tile.block_idx 0
    %e7 = arith.constant 0 : index
    %b = arith.addi %e6, %e7 : index
    %e8 = arith.constant 16 : index
    %i = arith.muli %b, %e8 : index
    %e9 = arith.constant 2 : index
    %s = arith.remsi %b, %e9 : index
    %a = tile.load %x[%i, 0] : !tile.tile<16x16xf32>
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: race: block [2, 0, 0] writes element [0, 0, 0] of 'w' (f32[3, 16, 16]), which block [0, 0,
    tile.store %a, %w[%s, 0, 0]
    %c = tile.load %w[%s, 0, 0] : !tile.tile<16x16xf32>
    tile.store %c, %y[%i, 0]
  }
}

//--- right.mlir
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %e1 = kiln.dim %x, 0
  %e2 = kiln.dim %y, 0
  %e3 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e3, "same"
  %e4 = kiln.dim %x, 0
  %e5 = arith.constant 16 : index
  %g = arith.ceildivsi %e4, %e5 : index
  %w = kiln.alloc(%g) : !kiln.tensor<?x16x16xf32>
  %t = kiln.incore "k" grid(%g) {
    %e6 = tile.block_idx 0
    %e7 = arith.constant 0 : index
    %b = arith.addi %e6, %e7 : index
    %e8 = arith.constant 16 : index
    %i = arith.muli %b, %e8 : index
    %e9 = arith.constant 0 : index
    %s = arith.addi %b, %e9 : index
    %a = tile.load %x[%i, 0] : !tile.tile<16x16xf32>
    tile.store %a, %w[%s, 0, 0]
    %c = tile.load %w[%s, 0, 0] : !tile.tile<16x16xf32>
    tile.store %c, %y[%i, 0]
  }
}
