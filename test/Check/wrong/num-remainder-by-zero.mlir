// Nor has a remainder.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg n=4:iota --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg n=4:iota --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<4xi32> inout) incore {
  %seven = arith.constant 7 : i32
  %d = kiln.read %n[0] : i32
  %q = arith.remsi %seven, %d : i32
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: arith.remsi: integer division of 7 by zero
  kiln.write %q, %y[0]
}

//--- right.mlir
kiln.func @k(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<4xi32> inout) incore {
  %seven = arith.constant 7 : i32
  %d = kiln.read %n[2] : i32
  %q = arith.remsi %seven, %d : i32
  kiln.write %q, %y[0]
}
