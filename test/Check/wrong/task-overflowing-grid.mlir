// The number of blocks must fit 63 bits.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s

//--- wrong.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %n = arith.constant 4611686018427387904 : index
  %a = kiln.submit @fill(%y) grid(%n, %n)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: kiln.submit: kernel 'fill': grid [{{.*}}] has too many blocks
}
