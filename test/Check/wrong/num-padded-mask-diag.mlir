// What a causal mask hides counts as 1 after the exponential. All of the tile lies inside its tensor.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=8x8 --arg y=8x1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=8x8 --arg y=8x1 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %d = tile.mask_diag %a offset(%c0) : !tile.tile<8x8xf32>
  %e = tile.exp %d : !tile.tile<8x8xf32>
  %s = tile.reduce sum %e axis(1) : !tile.tile<8x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the sum over axis 1 includes padding: in row 0 of the 8x8 tile only columns [0, 1) are data; column 1 holds 1 and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask_diag like that, with pad(zero), before the sum
  tile.store %s, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %d = tile.mask_diag %a offset(%c0) pad(min) : !tile.tile<8x8xf32>
  %e = tile.exp %d : !tile.tile<8x8xf32>
  %s = tile.reduce sum %e axis(1) : !tile.tile<8x1xf32>
  tile.store %s, %y[0, 0]
}
