// A reshaped tile is the same memory.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!up = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %up: !up) role(aiv) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %up
}
kiln.func @cube(%y: !kiln.tensor<8x8xf32>, %up: !up) role(aic) {
  %t = tile.pop %up : !tile.tile<8x8xf32>
  %r = tile.reshape %t : !tile.tile<4x16xf32>
  tile.free %up
  %s = tile.add %r, %r : !tile.tile<4x16xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.add uses a tile popped from pipe 'to_aic' after its slot was freed: the next push may have overwritten it (in cube, block [0, 0, 0] of task 0)
  %b = tile.reshape %s : !tile.tile<8x8xf32>
  tile.store %b, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}

//--- right.mlir
!up = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %up: !up) role(aiv) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %up
}
kiln.func @cube(%y: !kiln.tensor<8x8xf32>, %up: !up) role(aic) {
  %t = tile.pop %up : !tile.tile<8x8xf32>
  %r = tile.reshape %t : !tile.tile<4x16xf32>
  %s = tile.add %r, %r : !tile.tile<4x16xf32>
  tile.free %up
  %b = tile.reshape %s : !tile.tile<8x8xf32>
  tile.store %b, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}
