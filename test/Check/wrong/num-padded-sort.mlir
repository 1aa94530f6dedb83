// In ascending order padding comes last only if it is the greatest.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %v, %i = tile.sort_rows %a : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.sort_rows takes padding for data: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds -inf and would have to hold inf
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with -inf here; write pad(max)
  tile.store %v, %y[0, 0] valid(16, 5)
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(max) : !tile.tile<16x8xf32>
  %v, %i = tile.sort_rows %a : !tile.tile<16x8xf32>, !tile.tile<16x8xi32>
  tile.store %v, %y[0, 0] valid(16, 5)
}
