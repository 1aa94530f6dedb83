// Zero times infinity is NaN, in every row.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x10 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x10 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %zero = arith.constant 0.0 : f32
  %acc = tile.full %zero : !tile.tile<16x16xf32>
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.load %x[0, 0] pad(min) : !tile.tile<16x8xf32>
  %p = tile.matmul_acc %acc, %a, %b trans_b : !tile.tile<16x16xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the matrix product sums over padding: in row 0 of its right operand, 16x8, only columns [0, 5) are data; column 5 holds -inf and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: filled up with -inf here; write pad(zero)
  tile.store %p, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %zero = arith.constant 0.0 : f32
  %acc = tile.full %zero : !tile.tile<16x16xf32>
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %p = tile.matmul_acc %acc, %a, %b trans_b : !tile.tile<16x16xf32>
  tile.store %p, %y[0, 0]
}
