// The integer of a predicate is made up. Where it is not above 0, nobody writes the output.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %f: !kiln.tensor<1xi32> in, %y: !kiln.tensor<16x16xf32> out) orchestration {
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: nobody writes elements [0:16, 0:16] of 'y'
  %a = kiln.submit @copy(%x, %y) predicate(%f[0] > 0)
}

//--- right.mlir
kiln.func @copy(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x16xf32> in, %f: !kiln.tensor<1xi32> in, %y: !kiln.tensor<16x16xf32> out) orchestration {
  %a = kiln.submit @copy(%x, %y) predicate(%f[0] > 0)
  %b = kiln.submit @copy(%x, %y) predicate(%f[0] <= 0)
}
