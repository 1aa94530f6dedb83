// One element of a tile suffices.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg n=4:iota --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg n=4:iota --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<4xi32>) incore {
  %seven = arith.constant 7 : i32
  %t = tile.load %n[0] : !tile.tile<1x4xi32>
  %s = tile.full %seven : !tile.tile<1x4xi32>
  %q = tile.div %s, %t : !tile.tile<1x4xi32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.div: integer division by zero: element [0, 0] of the divisor
  tile.store %q, %y[0]
}

//--- right.mlir
kiln.func @k(%n: !kiln.tensor<4xi32>, %y: !kiln.tensor<4xi32>) incore {
  %one = arith.constant 1 : i32
  %t = tile.load %n[0] : !tile.tile<1x4xi32>
  %d = tile.max %t, %one : !tile.tile<1x4xi32>
  %q = tile.div %t, %d : !tile.tile<1x4xi32>
  tile.store %q, %y[0]
}
