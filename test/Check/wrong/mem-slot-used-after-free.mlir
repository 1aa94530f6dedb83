// The product is computed from a slot that was given back.
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
  tile.free %up
  %p = tile.matmul %t, %t : !tile.tile<8x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.matmul uses a tile popped from pipe 'to_aic' after its slot was freed: the next push may have overwritten it (in cube, block [0, 0, 0] of task 0)
  // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: popped here
  // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: freed here; free after the last use, or write no tile.free of this pipe and have them placed
  // CHECK-NOT: uses a tile popped
  tile.store %p, %y[0, 0]
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
  %p = tile.matmul %t, %t : !tile.tile<8x8xf32>
  tile.free %up
  tile.store %p, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}
