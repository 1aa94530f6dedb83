// The mean of nothing. Only the first NaN is told, not what it spreads to.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --nan --arg y=4x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --nan --arg y=4x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %zero = arith.constant 0.0 : f32
  %z = tile.full %zero : !tile.tile<4x8xf32>
  %q = tile.div %z, %z : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.div makes NaN at [0, 0] of 0 and 0
  %s = tile.add %q, %q : !tile.tile<4x8xf32>
  // CHECK-NOT: tile.add
  tile.store %s, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %z = tile.full %zero : !tile.tile<4x8xf32>
  %q = tile.div %z, %one : !tile.tile<4x8xf32>
  tile.store %q, %y[0, 0]
}
