// Both lanes store their half to the first rows: the lane index was forgotten.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!down = !tile.pipe<aic -> aiv, 8x8xf32, up_down>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %down: !down) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %down
}
kiln.func @vec(%y: !kiln.tensor<8x8xf32>, %down: !down) role(aiv) {
  %c4 = arith.constant 4 : index
  %lane = tile.lane
  %row = arith.muli %lane, %c4 : index
  %t = tile.pop %down : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: vec#1 writes element [0, 0] of 'y' (f32[8, 8]), which vec#0 writes, and nothing orders the two; it holds {{.*}} (in vec#1, block [0, 0, 0] of task 0)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group lanes(2) {
  %down = tile.pipe slots(2) : !down
  kiln.call @cube(%x, %down)
  kiln.call @vec(%y, %down)
}
// CHECK: note: the instances of a group run side by side: let each have elements of its own (tile.lane), or order them with a pipe

//--- right.mlir
!down = !tile.pipe<aic -> aiv, 8x8xf32, up_down>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %down: !down) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %down
}
kiln.func @vec(%y: !kiln.tensor<8x8xf32>, %down: !down) role(aiv) {
  %c4 = arith.constant 4 : index
  %lane = tile.lane
  %row = arith.muli %lane, %c4 : index
  %t = tile.pop %down : !tile.tile<4x8xf32>
  tile.store %t, %y[%row, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group lanes(2) {
  %down = tile.pipe slots(2) : !down
  kiln.call @cube(%x, %down)
  kiln.call @vec(%y, %down)
}
