// A loop that does not advance does not end.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg n=4:iota --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg n=4:iota --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<4xi32> inout) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = kiln.read %n[0] : i32
  %step = arith.index_cast %v : i32 to index
  scf.for %i = %c0 to %c4 step %step {
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: scf.for: the step of the loop is 0; it must be positive
    kiln.write %v, %y[%i]
  }
}

//--- right.mlir
kiln.func @k(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<4xi32> inout) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = kiln.read %n[2] : i32
  %step = arith.index_cast %v : i32 to index
  scf.for %i = %c0 to %c4 step %step {
    kiln.write %v, %y[%i]
  }
}
