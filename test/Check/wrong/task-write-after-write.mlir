// Which of two writers is the last is open.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 1 (copy) writes element [0, 0] of 'y' (f32[4, 8]), which task 0 (fill) writes
}
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: note: task 0 (fill) writes it here
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) orchestration {
  kiln.scope manual {
    %a = kiln.submit @fill(%y)
    %b = kiln.submit @copy(%x, %y)
  }
}

//--- right.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) orchestration {
  kiln.scope manual {
    %a = kiln.submit @fill(%y)
    %b = kiln.submit @copy(%x, %y) deps(%a)
  }
}
