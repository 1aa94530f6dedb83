// The reader waits for one of its two producers; the two write different rows and do not race.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 2 (copy) reads element [2, 0] of 'x' (f32[4, 8]), which task 1 (half) writes
  tile.store %t, %y[0, 0]
}
kiln.func @half(%x: !kiln.tensor<4x8xf32>, %row: index) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<2x8xf32>
  tile.store %t, %x[%row, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: note: task 1 (half) writes it here
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @half(%x, %c0)
    %b = kiln.submit @half(%x, %c2)
    %c = kiln.submit @copy(%x, %y) deps(%a)
  }
}

//--- right.mlir
kiln.func @half(%x: !kiln.tensor<4x8xf32>, %row: index) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<2x8xf32>
  tile.store %t, %x[%row, 0]
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @half(%x, %c0)
    %b = kiln.submit @half(%x, %c2)
    %c = kiln.submit @copy(%x, %y) deps(%a, %b)
  }
}
