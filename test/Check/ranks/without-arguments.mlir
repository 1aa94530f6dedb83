// Where nothing is given, several ranks are tried with what Kiln makes up, as one is.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: 5 ranks: 1 collective matched
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%y: !kiln.tensor<?x?xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %me = kiln.rank
  %is = arith.cmpi eq, %me, %c0 : index
  scf.if %is {
    // CHECK: wrong.mlir:{{.*}} error: {{.*}}rank 0 waits in all_reduce of f32[{{[0-9]+, [0-9]+}}] at {{.*}}wrong.mlir:[[#@LINE+1]]:
    %t = kiln.all_reduce %y, sum
  }
}
// CHECK: {{^}}FINDINGS

//--- right.mlir
kiln.func @main(%y: !kiln.tensor<?x?xf32> inout) orchestration {
  %t = kiln.all_reduce %y, sum
}
