// What padding has become goes through pipes.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
!up = !tile.pipe<aiv -> aic, 16x8xf32>
kiln.func @vec(%x: !kiln.tensor<?x?xf32>, %up: !up) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %e = tile.exp %a : !tile.tile<16x8xf32>
  tile.push %e, %up
}
kiln.func @cube(%y: !kiln.tensor<?x?xf32> inout, %up: !up) role(aic) {
  %e = tile.pop %up : !tile.tile<16x8xf32>
  %s = tile.reduce sum %e axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the sum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds 1 and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-8]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(16, N) pad(zero) before the sum, where N is how many columns are data, here 5
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) group lanes(1) {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}

//--- right.mlir
!up = !tile.pipe<aiv -> aic, 16x8xf32>
kiln.func @vec(%x: !kiln.tensor<?x?xf32>, %up: !up) role(aiv) {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %e = tile.exp %a : !tile.tile<16x8xf32>
  tile.push %e, %up
}
kiln.func @cube(%y: !kiln.tensor<?x?xf32> inout, %up: !up) role(aic) {
  %e = tile.pop %up : !tile.tile<16x8xf32>
  %s = tile.reduce sum %e axis(1) : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) group lanes(1) {
  %up = tile.pipe slots(2) : !up
  kiln.call @vec(%x, %up)
  kiln.call @cube(%y, %up)
}
