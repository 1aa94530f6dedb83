// Eight blocks add one to a counter: read and write are two steps, atomic(add) is one.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @count(%n: !kiln.tensor<1xi32>) incore {
  %one = arith.constant 1 : i32
  %v = kiln.read %n[0] : i32
  %w = arith.addi %v, %one : i32
  kiln.write %w, %n[0]
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: error: race: block [1, 0, 0] {{reads|writes}} element [0] of 'n' (i32[1])
}
kiln.func @main(%n: !kiln.tensor<1xi32> inout) orchestration {
  %a = kiln.submit @count(%n) grid(8)
}

//--- right.mlir
kiln.func @count(%n: !kiln.tensor<1xi32>) incore {
  %one = arith.constant 1 : i32
  %t = tile.full %one : !tile.tile<1x1xi32>
  tile.store %t, %n[0] atomic(add)
}
kiln.func @main(%n: !kiln.tensor<1xi32> inout) orchestration {
  %a = kiln.submit @count(%n) grid(8)
}
