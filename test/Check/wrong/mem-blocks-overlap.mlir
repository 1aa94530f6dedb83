// Blocks of four rows that start three rows apart write one row twice. The value is the same; the order is not.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @rows(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) incore {
  %step = arith.constant 3 : index
  %block = tile.block_idx 0
  %row = arith.muli %block, %step : index
  %t = tile.load %x[%row, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[%row, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: block [1, 0, 0] writes element [3, 0] of 'y' (f32[16, 8]), which block [0, 0, 0] of the same launch writes, and nothing orders the two
}
kiln.func @main(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) orchestration {
  %a = kiln.submit @rows(%x, %y) grid(4)
}
// CHECK: note: the blocks of a launch run in any order: let each have elements of its own, or add with tile.store ... atomic(add)

//--- right.mlir
kiln.func @rows(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) incore {
  %step = arith.constant 4 : index
  %block = tile.block_idx 0
  %row = arith.muli %block, %step : index
  %t = tile.load %x[%row, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[%row, 0]
}
kiln.func @main(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) orchestration {
  %a = kiln.submit @rows(%x, %y) grid(4)
}
