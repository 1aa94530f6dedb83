// Four heads share one of keys, whatever the number of heads is.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%q: !kiln.tensor<?x?x32xf32> in, %k: !kiln.tensor<?x?x32xf32> in, %y: !kiln.tensor<?x?x32xf32> out) orchestration {
  %e1 = kiln.dim %q, 0
  %e2 = kiln.dim %k, 0
  %e3 = arith.remsi %e1, %e2 : index
  %e4 = arith.constant 0 : index
  %e5 = arith.cmpi eq, %e3, %e4 : index
  kiln.require %e5, "heads of q are a multiple of those of k"
  %e6 = kiln.dim %q, 1
  %e7 = kiln.dim %k, 1
  %e8 = arith.cmpi eq, %e6, %e7 : index
  %e9 = kiln.dim %y, 0
  %e10 = kiln.dim %q, 0
  %e11 = arith.cmpi eq, %e9, %e10 : index
  %e12 = arith.andi %e8, %e11 : i1
  %e13 = kiln.dim %y, 1
  %e14 = kiln.dim %q, 1
  %e15 = arith.cmpi eq, %e13, %e14 : index
  %e16 = arith.andi %e12, %e15 : i1
  kiln.require %e16, "shapes"
  %e17 = kiln.dim %k, 0
  %e18 = arith.constant 1 : index
  %e19 = arith.cmpi sge, %e17, %e18 : index
  kiln.require %e19, "heads"
  %H = kiln.dim %q, 0
  %e20 = kiln.dim %q, 1
  %e21 = arith.constant 16 : index
  %g = arith.ceildivsi %e20, %e21 : index
  %t = kiln.incore "k" grid(%H, %g) {
    %e22 = tile.block_idx 0
    %e23 = arith.constant 0 : index
    %h = arith.addi %e22, %e23 : index
    %e24 = tile.block_idx 1
    %e25 = arith.constant 16 : index
    %i = arith.muli %e24, %e25 : index
    %e26 = kiln.dim %q, 0
    %e27 = kiln.dim %k, 0
    %ratio = arith.divsi %e26, %e27 : index
    %e28 = arith.constant 4 : index
    %kh = arith.divsi %h, %e28 : index
    %a = tile.load %q[%h, %i, 0] : !tile.tile<16x32xf32>
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.load: a tile of 16x32 at [1, 0, 0] lies wholly outside 'k' (f32[1, 32, 32]) (in k, bl
    %b = tile.load %k[%kh, %i, 0] : !tile.tile<16x32xf32>
    %r = tile.mul %a, %b : !tile.tile<16x32xf32>
    tile.store %r, %y[%h, %i, 0]
  }
}

//--- right.mlir
kiln.func @main(%q: !kiln.tensor<?x?x32xf32> in, %k: !kiln.tensor<?x?x32xf32> in, %y: !kiln.tensor<?x?x32xf32> out) orchestration {
  %e1 = kiln.dim %q, 0
  %e2 = kiln.dim %k, 0
  %e3 = arith.remsi %e1, %e2 : index
  %e4 = arith.constant 0 : index
  %e5 = arith.cmpi eq, %e3, %e4 : index
  kiln.require %e5, "heads of q are a multiple of those of k"
  %e6 = kiln.dim %q, 1
  %e7 = kiln.dim %k, 1
  %e8 = arith.cmpi eq, %e6, %e7 : index
  %e9 = kiln.dim %y, 0
  %e10 = kiln.dim %q, 0
  %e11 = arith.cmpi eq, %e9, %e10 : index
  %e12 = arith.andi %e8, %e11 : i1
  %e13 = kiln.dim %y, 1
  %e14 = kiln.dim %q, 1
  %e15 = arith.cmpi eq, %e13, %e14 : index
  %e16 = arith.andi %e12, %e15 : i1
  kiln.require %e16, "shapes"
  %e17 = kiln.dim %k, 0
  %e18 = arith.constant 1 : index
  %e19 = arith.cmpi sge, %e17, %e18 : index
  kiln.require %e19, "heads"
  %H = kiln.dim %q, 0
  %e20 = kiln.dim %q, 1
  %e21 = arith.constant 16 : index
  %g = arith.ceildivsi %e20, %e21 : index
  %t = kiln.incore "k" grid(%H, %g) {
    %e22 = tile.block_idx 0
    %e23 = arith.constant 0 : index
    %h = arith.addi %e22, %e23 : index
    %e24 = tile.block_idx 1
    %e25 = arith.constant 16 : index
    %i = arith.muli %e24, %e25 : index
    %e26 = kiln.dim %q, 0
    %e27 = kiln.dim %k, 0
    %ratio = arith.divsi %e26, %e27 : index
    %kh = arith.divsi %h, %ratio : index
    %a = tile.load %q[%h, %i, 0] : !tile.tile<16x32xf32>
    %b = tile.load %k[%kh, %i, 0] : !tile.tile<16x32xf32>
    %r = tile.mul %a, %b : !tile.tile<16x32xf32>
    tile.store %r, %y[%h, %i, 0]
  }
}
