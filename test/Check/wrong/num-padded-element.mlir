// A scalar is taken out of a tile where the tile is padding: what becomes of it nobody follows, so the check does not say CLEAN.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<1x?xf32> in, %y: !kiln.tensor<1x1xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %t = tile.load %x[0, 0] : !tile.tile<1x32xf32>
  %p = scf.for %i = %c0 to %c32 step %c1 iter_args(%a = %one) -> (f32) {
    // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: takes element [0, {{[0-9]+}}] out of a tile, which is padding; whether what becomes of it is right is not followed
    %e = tile.element %t[0, %i] : f32
    %s = arith.mulf %a, %e : f32
    scf.yield %s : f32
  }
  kiln.write %p, %y[0, 0]
}
// CHECK: {{^}}INCOMPLETE

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<1x?xf32> in, %y: !kiln.tensor<1x1xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %n = kiln.dim %x, 1
  %end = arith.minsi %n, %c32 : index
  %t = tile.load %x[0, 0] : !tile.tile<1x32xf32>
  %p = scf.for %i = %c0 to %end step %c1 iter_args(%a = %one) -> (f32) {
    %e = tile.element %t[0, %i] : f32
    %s = arith.mulf %a, %e : f32
    scf.yield %s : f32
  }
  kiln.write %p, %y[0, 0]
}
