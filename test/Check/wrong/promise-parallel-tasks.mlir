// Tasks of different iterations of a parallel loop write one tensor. What each iteration allocates is its own.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<64x16xf32> out, %r: index) incore {
  %t = tile.load %x[%r, 0] : !tile.tile<32x16xf32>
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: iteration 1 of a parallel loop writes element [16, 0] of 'y' (f32[64, 16]), which iteration 0 writes
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<64x16xf32> out) orchestration {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %r = %c0 to %c64 step %c16 {
    %t = kiln.submit @k(%x, %y, %r)
  } {kiln.loop = #kiln.loop<parallel>}
}

//--- right.mlir
kiln.func @copy(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<16x16xf32> out, %r: index) incore {
  %t = tile.load %x[%r, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @back(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<64x16xf32> out, %r: index) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  tile.store %t, %y[%r, 0]
}
kiln.func @main(%x: !kiln.tensor<64x16xf32> in, %y: !kiln.tensor<64x16xf32> out) orchestration {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %r = %c0 to %c64 step %c16 {
    %one = kiln.alloc() : !kiln.tensor<16x16xf32>
    %s = kiln.submit @copy(%x, %one, %r)
    %t = kiln.submit @back(%one, %y, %r)
  } {kiln.loop = #kiln.loop<parallel>}
}
