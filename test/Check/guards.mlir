// A guard that always holds, because the grid has just as many blocks as the tensor needs, leaves no side open.
// RUN: split-file --leading-lines %s %t
// RUN: %kiln check %t/guard.mlir | FileCheck %s
// RUN: %kiln check %t/rest.mlir | FileCheck %s
// CHECK: {{^}}CLEAN

//--- guard.mlir
kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) orchestration {
  %e1 = kiln.dim %x, 0
  %e2 = kiln.dim %y, 0
  %e3 = arith.cmpi eq, %e1, %e2 : index
  kiln.require %e3, "same"
  %e4 = kiln.dim %x, 0
  %e5 = arith.constant 16 : index
  %g = arith.ceildivsi %e4, %e5 : index
  %t = kiln.incore "k" grid(%g) {
    %e6 = tile.block_idx 0
    %e7 = arith.constant 16 : index
    %i = arith.muli %e6, %e7 : index
    %n = kiln.dim %x, 0
    %c = arith.cmpi slt, %i, %n : index
    scf.if %c {
      %a = tile.load %x[%i, 0] : !tile.tile<16x64xf32>
      tile.store %a, %y[%i, 0]
    }
  }
}

//--- rest.mlir
kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %v: !kiln.tensor<?x1xf32> out, %ix: !kiln.tensor<?x1xi32> out) orchestration {
  %e1 = kiln.dim %x, 0
  %e2 = kiln.dim %v, 0
  %e3 = arith.cmpi eq, %e1, %e2 : index
  %e4 = kiln.dim %x, 0
  %e5 = kiln.dim %ix, 0
  %e6 = arith.cmpi eq, %e4, %e5 : index
  %e7 = arith.andi %e3, %e6 : i1
  kiln.require %e7, "rows"
  %e8 = kiln.dim %x, 0
  %e9 = arith.constant 16 : index
  %g = arith.ceildivsi %e8, %e9 : index
  %t = kiln.incore "k" grid(%g) {
    %e10 = tile.block_idx 0
    %e11 = arith.constant 16 : index
    %i = arith.muli %e10, %e11 : index
    %a = tile.load %x[%i, 0] : !tile.tile<16x64xf32>
    %m = tile.reduce max %a axis(1) : !tile.tile<16x1xf32>
    %p = tile.reduce argmax %a axis(1) : !tile.tile<16x1xi32>
    tile.store %m, %v[%i, 0]
    %e12 = kiln.dim %x, 0
    %left = arith.subi %e12, %i : index
    %e13 = arith.constant 16 : index
    %n = arith.minsi %left, %e13 : index
    %e14 = arith.constant 0 : index
    %nn = arith.maxsi %n, %e14 : index
    tile.store %p, %ix[%i, 0] valid(%nn, 1)
  }
}
