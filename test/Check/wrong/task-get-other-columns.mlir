// kiln.get waits for the tasks that write the element, not for those that write columns beside it.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: sed 's/%x\[3, 5\]/%x[3, 1]/' %t/wrong.mlir > %t/right.mlir
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x4xf32>, %y: !kiln.tensor<4x4xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x4xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 2 (copy) reads element [0, 0] of 'x'
  tile.store %t, %y[0, 0]
}
kiln.func @fill(%x: !kiln.tensor<4x4xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x4xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x4xf32>) orchestration {
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  %left = kiln.slice %x[0, 0] [4, 4] : !kiln.tensor<4x4xf32>
  %right = kiln.slice %x[0, 4] [4, 4] : !kiln.tensor<4x4xf32>
  kiln.scope manual {
    %a = kiln.submit @fill(%left)
    %b = kiln.submit @fill(%right)
    %v = kiln.get %x[3, 5] : f32
    %c = kiln.submit @copy(%left, %y)
  }
}
