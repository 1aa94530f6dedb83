// An alloc in a loop is new memory in every iteration, whatever lay there before.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: reads element [0, 0] of 'x' (f32[4, 8]), which nobody has written (in copy, block [0, 0, 0] of task 2)
  tile.store %t, %y[0, 0]
}
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %x = kiln.alloc() : !kiln.tensor<4x8xf32>
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      %a = kiln.submit @fill(%x)
    }
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
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %x = kiln.alloc() : !kiln.tensor<4x8xf32>
    %first = arith.cmpi sge, %i, %c0 : index
    scf.if %first {
      %a = kiln.submit @fill(%x)
    }
    %b = kiln.submit @copy(%x, %y)
  }
}
