// f8E4M3FN has no infinity: what is too large becomes NaN.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --nan --arg y=4x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --nan --arg y=4x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %big = arith.constant 1000.0 : f32
  %t = tile.full %big : !tile.tile<4x8xf32>
  %c = tile.cast %t : !tile.tile<4x8xf8E4M3FN>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.cast makes NaN at [0, 0]; no operand has NaN
  %b = tile.cast %c : !tile.tile<4x8xf32>
  tile.store %b, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %big = arith.constant 100.0 : f32
  %t = tile.full %big : !tile.tile<4x8xf32>
  %c = tile.cast %t : !tile.tile<4x8xf8E4M3FN>
  %b = tile.cast %c : !tile.tile<4x8xf32>
  tile.store %b, %y[0, 0]
}
