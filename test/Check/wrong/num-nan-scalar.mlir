// Scalars too, unless they are constants: those are computed by the compiler.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --nan --arg y=4x8 --arg zero=0 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --nan --arg y=4x8 --arg zero=0 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32> inout, %zero: f32) incore {
  %q = arith.divf %zero, %zero : f32
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: arith.divf makes NaN of 0 and 0
  kiln.write %q, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32> inout, %zero: f32) incore {
  %one = arith.constant 1.0 : f32
  %q = arith.divf %zero, %one : f32
  kiln.write %q, %y[0, 0]
}
