// Atomic additions do not race with each other, but a plain read does with each of them.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 2 (copy) reads element [0, 0] of 'x' (f32[4, 8]), which task {{[01]}} (add) adds to
  tile.store %t, %y[0, 0]
}
kiln.func @add(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0] atomic(add)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: note: task {{[01]}} (add) adds to it here
}
kiln.func @main(%x: !kiln.tensor<4x8xf32> inout, %y: !kiln.tensor<4x8xf32>) orchestration {
  kiln.scope manual {
    %a = kiln.submit @add(%x) grid(4)
    %b = kiln.submit @add(%x)
    %c = kiln.submit @copy(%x, %y)
  }
}

//--- right.mlir
kiln.func @add(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0] atomic(add)
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<4x8xf32> inout, %y: !kiln.tensor<4x8xf32>) orchestration {
  kiln.scope manual {
    %a = kiln.submit @add(%x) grid(4)
    %b = kiln.submit @add(%x)
    %c = kiln.submit @copy(%x, %y) deps(%a, %b)
  }
}
