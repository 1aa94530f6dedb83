// Rows that two blocks scatter to are written by both; rows gathered from memory nobody wrote are found, and those that
// were scattered before count as written.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --arg r=8:0,1,2,3,4,3,6,7 --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/wrong.mlir --arg r=8:0,1,2,3,4,5,6,7 --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %kiln run %t/unwritten.mlir --arg r=8:0,1,2,3,4,5,6,7 --seeds 4 --no-reference 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNWRITTEN
// RUN: %kiln run %t/right-written.mlir --arg r=8:0,1,2,3,4,5,6,7 --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @rows(%x: !kiln.tensor<8x8xf32>, %r: !kiln.tensor<8xi32>, %y: !kiln.tensor<8x8xf32>) incore {
  %step = arith.constant 4 : index
  %block = tile.block_idx 0
  %row = arith.muli %block, %step : index
  %t = tile.load %x[%row, 0] : !tile.tile<4x8xf32>
  tile.scatter_rows %t, %y[0, 0] rows(%r[%row])
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: block [1, 0, 0] writes element [3, 0] of 'y' (f32[8, 8]), which block [0, 0, 0] of the same launch writes, and nothing orders the two
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %r: !kiln.tensor<8xi32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %a = kiln.submit @rows(%x, %r, %y) grid(2)
}

//--- unwritten.mlir
kiln.func @rows(%t: !kiln.tensor<8x8xf32>, %r: !kiln.tensor<8xi32>, %y: !kiln.tensor<8x8xf32>) incore {
  %a = tile.gather_rows %t[0, 0] rows(%r[0]) : !tile.tile<8x8xf32>
  // UNWRITTEN: unwritten.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: reads element [0, 0] of 't' (f32[8, 8]), which nobody has written
  tile.store %a, %y[0, 0]
}
kiln.func @main(%r: !kiln.tensor<8xi32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %t = kiln.alloc() : !kiln.tensor<8x8xf32>
  %a = kiln.submit @rows(%t, %r, %y) grid(1)
}

//--- right-written.mlir
kiln.func @scatter(%t: !kiln.tensor<8x8xf32>, %r: !kiln.tensor<8xi32>) incore {
  %one = arith.constant 1.0 : f32
  %a = tile.full %one : !tile.tile<8x8xf32>
  tile.scatter_rows %a, %t[0, 0] rows(%r[0])
}
kiln.func @copy(%t: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %a = tile.load %t[0, 0] : !tile.tile<8x8xf32>
  tile.store %a, %y[0, 0]
}
kiln.func @main(%r: !kiln.tensor<8xi32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %t = kiln.alloc() : !kiln.tensor<8x8xf32>
  %a = kiln.submit @scatter(%t, %r) grid(1)
  %b = kiln.submit @copy(%t, %y) grid(1)
}
