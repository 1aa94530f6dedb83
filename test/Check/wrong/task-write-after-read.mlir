// The writer may overwrite what the reader has not read yet.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 1 (fill) writes element [0, 0] of 'x' (f32[4, 8]), which task 0 (copy) reads
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: note: task 0 (copy) reads it here
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) orchestration {
  kiln.scope manual {
    %a = kiln.submit @copy(%x, %y)
    %b = kiln.submit @fill(%x)
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
    %a = kiln.submit @copy(%x, %y)
    %b = kiln.submit @fill(%x) deps(%a)
  }
}
