// An integer nobody wrote looks like any other.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @read(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<1xi32>) incore {
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i32
  kiln.write %one, %n[0]
  %v = kiln.read %n[%c3] : i32
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: reads element [3] of 'n' (i32[4]), which nobody has written
  kiln.write %v, %y[0]
}
kiln.func @main(%y: !kiln.tensor<1xi32>) orchestration {
  %n = kiln.alloc() : !kiln.tensor<4xi32>
  %a = kiln.submit @read(%n, %y)
}

//--- right.mlir
kiln.func @read(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<1xi32>) incore {
  %c3 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  kiln.write %one, %n[0]
  %v = kiln.read %n[%c3] : i32
  kiln.write %v, %y[0]
}
kiln.func @main(%y: !kiln.tensor<1xi32>) orchestration {
  %n = kiln.alloc() : !kiln.tensor<4xi32>
  %a = kiln.submit @read(%n, %y)
}
