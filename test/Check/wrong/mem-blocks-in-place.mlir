// In place, a block reads the first row of the next block, which that block writes.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @smooth(%x: !kiln.tensor<16x8xf32>) incore {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %block = tile.block_idx 0
  %row = arith.muli %block, %c4 : index
  %next = arith.addi %row, %c1 : index
  %a = tile.load %x[%row, 0] : !tile.tile<4x8xf32>
  %b = tile.load %x[%next, 0] : !tile.tile<4x8xf32>
  %s = tile.add %a, %b : !tile.tile<4x8xf32>
  tile.store %s, %x[%row, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: block [1, 0, 0] writes element [4, 0] of 'x' (f32[16, 8]), which block [0, 0, 0] of the same launch reads
}
kiln.func @main(%x: !kiln.tensor<16x8xf32>) orchestration {
  %a = kiln.submit @smooth(%x) grid(4)
}

//--- right.mlir
kiln.func @smooth(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) incore {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %block = tile.block_idx 0
  %row = arith.muli %block, %c4 : index
  %next = arith.addi %row, %c1 : index
  %a = tile.load %x[%row, 0] : !tile.tile<4x8xf32>
  %b = tile.load %x[%next, 0] : !tile.tile<4x8xf32>
  %s = tile.add %a, %b : !tile.tile<4x8xf32>
  tile.store %s, %y[%row, 0]
}
kiln.func @main(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) orchestration {
  %a = kiln.submit @smooth(%x, %y) grid(4)
}
