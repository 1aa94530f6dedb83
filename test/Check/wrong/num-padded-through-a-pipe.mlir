// The other lane has all of its rows; padding is known in the joined tile.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x8 --arg y=1x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x8 --arg y=1x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!up = !tile.pipe<aiv -> aic, 16x8xf32, up_down>
kiln.func @vec(%x: !kiln.tensor<?x?xf32>, %up: !up) role(aiv) {
  %c8 = arith.constant 8 : index
  %lane = tile.lane
  %row = arith.muli %lane, %c8 : index
  %t = tile.load %x[%row, 0] : !tile.tile<8x8xf32>
  tile.push %t, %up
}
kiln.func @cube(%y: !kiln.tensor<?x?xf32> inout, %up: !up) role(aic) {
  %t = tile.pop %up : !tile.tile<16x8xf32>
  %m = tile.reduce max %t axis(0) : !tile.tile<1x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 0 includes padding: in column 0 of the 16x8 tile only rows [0, 10) are data; row 10 holds 0
  tile.store %m, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) group lanes(2) {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}

//--- right.mlir
!up = !tile.pipe<aiv -> aic, 16x8xf32, up_down>
kiln.func @vec(%x: !kiln.tensor<?x?xf32>, %up: !up) role(aiv) {
  %c8 = arith.constant 8 : index
  %lane = tile.lane
  %row = arith.muli %lane, %c8 : index
  %t = tile.load %x[%row, 0] pad(min) : !tile.tile<8x8xf32>
  tile.push %t, %up
}
kiln.func @cube(%y: !kiln.tensor<?x?xf32> inout, %up: !up) role(aic) {
  %t = tile.pop %up : !tile.tile<16x8xf32>
  %m = tile.reduce max %t axis(0) : !tile.tile<1x8xf32>
  tile.store %m, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) group lanes(2) {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}
