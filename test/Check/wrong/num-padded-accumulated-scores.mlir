// Scores that a loop adds up: those of rows that are not there stay 0, and are no data.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x13 --arg y=10x1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x13 --arg y=10x1 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %zero : !tile.tile<16x16xf32>
  %s = scf.for %k = %c0 to %n step %c8 iter_args(%acc = %init) -> (!tile.tile<16x16xf32>) {
    %a = tile.load %x[0, %k] : !tile.tile<16x8xf32>
    %next = tile.matmul_acc %acc, %a, %a trans_b : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  %rows = kiln.dim %x, 0
  %m = tile.reduce max %s axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the maximum over axis 1 includes padding: in row 0 of the 16x16 tile only columns [0, 10) are data; column 10 holds 0 and would have to hold -inf
  // CHECK: wrong.mlir:[[#@LINE-7]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(16, N) pad(min) before the maximum, where N is how many columns are data, here 10
  tile.store %m, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %zero : !tile.tile<16x16xf32>
  %s = scf.for %k = %c0 to %n step %c8 iter_args(%acc = %init) -> (!tile.tile<16x16xf32>) {
    %a = tile.load %x[0, %k] : !tile.tile<16x8xf32>
    %next = tile.matmul_acc %acc, %a, %a trans_b : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  %rows = kiln.dim %x, 0
  %v = tile.mask %s valid(16, %rows) pad(min) : !tile.tile<16x16xf32>
  %m = tile.reduce max %v axis(1) : !tile.tile<16x1xf32>
  tile.store %m, %y[0, 0]
}
