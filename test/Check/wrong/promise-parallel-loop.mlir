// Every iteration of a parallel loop stores to the same place.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  // CHECK: wrong.mlir:[[#@LINE+6]]:{{[0-9]+}}: error: iteration 1 of a parallel loop writes element [0, 0] of 'y' (f32[16, 16]), which iteration 0 writes
  // CHECK: wrong.mlir:[[#@LINE+2]]:{{[0-9]+}}: note: the loop promises here that its iterations are independent
  // CHECK: wrong.mlir:[[#@LINE+4]]:{{[0-9]+}}: note: the other iteration writes it here
  scf.for %r = %c0 to %c64 step %c16 {
    %t = tile.load %x[%r, 0] : !tile.tile<16x16xf32>

    tile.store %t, %y[0, 0]
  } {kiln.loop = #kiln.loop<parallel>}
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<64x16xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %r = %c0 to %c64 step %c16 {
    %t = tile.load %x[%r, 0] : !tile.tile<16x16xf32>
    tile.store %t, %y[%r, 0]
  } {kiln.loop = #kiln.loop<parallel>}
}
