// A row that is added to every row is added to those that are not there.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x8 --arg y=1x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x8 --arg y=1x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %n = kiln.dim %x, 0
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<1x8xf32>
  %c = tile.add %b, %a : !tile.tile<16x8xf32>
  %s = tile.reduce sum %c axis(0) : !tile.tile<1x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the sum over axis 0 includes padding: in column 0 of the 16x8 tile only rows [0, 10) are data; row 10 holds {{.*}} and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-5]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(N, 8) pad(zero) before the sum, where N is how many rows are data, here 10
  tile.store %s, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %n = kiln.dim %x, 0
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<1x8xf32>
  %c = tile.add %b, %a : !tile.tile<16x8xf32>
  %d = tile.mask %c valid(%n, 8) : !tile.tile<16x8xf32>
  %s = tile.reduce sum %d axis(0) : !tile.tile<1x8xf32>
  tile.store %s, %y[0, 0]
}
