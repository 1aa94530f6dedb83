// The orchestration that is not the first leaves the last rows unwritten.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %e1 = tile.block_idx 0
  %e2 = arith.constant 16 : index
  %i = arith.muli %e1, %e2 : index
  %a = tile.load %x[%i, 0] : !tile.tile<16x16xf32>
  tile.store %a, %y[%i, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %e3 = kiln.dim %x, 0
  %e4 = kiln.dim %y, 0
  %e5 = arith.cmpi eq, %e3, %e4 : index
  kiln.require %e5, "same"
  %e6 = kiln.dim %x, 0
  %e7 = arith.constant 16 : index
  %g = arith.ceildivsi %e6, %e7 : index
  %t = kiln.submit @copy(%x, %y) grid(%g)
}
kiln.func @backward(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %e8 = kiln.dim %x, 0
  %e9 = kiln.dim %y, 0
  %e10 = arith.cmpi eq, %e8, %e9 : index
  kiln.require %e10, "same"
  %e11 = kiln.dim %x, 0
  %e12 = arith.constant 16 : index
  %g = arith.divsi %e11, %e12 : index
// CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [0:1, 0:16] of 'y' (f32[1, 16]), which is out: none of its 16 eleme
  %t = kiln.submit @copy(%x, %y) grid(%g)
}

//--- right.mlir
kiln.func @copy(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) incore {
  %e1 = tile.block_idx 0
  %e2 = arith.constant 16 : index
  %i = arith.muli %e1, %e2 : index
  %a = tile.load %x[%i, 0] : !tile.tile<16x16xf32>
  tile.store %a, %y[%i, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %e3 = kiln.dim %x, 0
  %e4 = kiln.dim %y, 0
  %e5 = arith.cmpi eq, %e3, %e4 : index
  kiln.require %e5, "same"
  %e6 = kiln.dim %x, 0
  %e7 = arith.constant 16 : index
  %g = arith.ceildivsi %e6, %e7 : index
  %t = kiln.submit @copy(%x, %y) grid(%g)
}
kiln.func @backward(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %e8 = kiln.dim %x, 0
  %e9 = kiln.dim %y, 0
  %e10 = arith.cmpi eq, %e8, %e9 : index
  kiln.require %e10, "same"
  %e11 = kiln.dim %x, 0
  %e12 = arith.constant 16 : index
  %g = arith.ceildivsi %e11, %e12 : index
  %t = kiln.submit @copy(%x, %y) grid(%g)
}
