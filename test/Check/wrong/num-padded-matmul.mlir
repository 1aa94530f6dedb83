// A sum as a product with ones. Rows that are padding stay among themselves.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x16 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x16 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %one = arith.constant 1.0 : f32
  %ones = tile.full %one : !tile.tile<8x16xf32>
  %e = tile.exp %a : !tile.tile<16x8xf32>
  %p = tile.matmul %e, %ones : !tile.tile<16x16xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the matrix product sums over padding: in row 0 of its left operand, 16x8, only columns [0, 5) are data; column 5 holds 1 and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-6]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(16, N) pad(zero) before the matrix product, where N is how many columns are data, here 5
  tile.store %p, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %one = arith.constant 1.0 : f32
  %ones = tile.full %one : !tile.tile<8x16xf32>
  %e = tile.exp %a : !tile.tile<16x8xf32>
  %p = tile.matmul %e, %ones : !tile.tile<16x16xf32>
  tile.store %p, %y[0, 0]
}
