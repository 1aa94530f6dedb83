// Two tasks store into column slices of one tensor that share a column.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @columns(%x: !kiln.tensor<4x?xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 1 (columns) writes element [0, 0] of 'x' (f32[4, 4]), which task 0 (columns) writes
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>) orchestration {
  %left = kiln.slice %x[0, 0] [4, 5] : !kiln.tensor<4x5xf32>
  %right = kiln.slice %x[0, 4] [4, 4] : !kiln.tensor<4x4xf32>
  kiln.scope manual {
    %a = kiln.submit @columns(%left)
    %b = kiln.submit @columns(%right)
  }
}

//--- right.mlir
kiln.func @columns(%x: !kiln.tensor<4x?xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>) orchestration {
  %left = kiln.slice %x[0, 0] [4, 4] : !kiln.tensor<4x4xf32>
  %right = kiln.slice %x[0, 4] [4, 4] : !kiln.tensor<4x4xf32>
  kiln.scope manual {
    %a = kiln.submit @columns(%left)
    %b = kiln.submit @columns(%right)
  }
}
