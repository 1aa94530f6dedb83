// A tensor lives to the end of its block and cannot leave it: the text does not even parse.
// RUN: not %kiln run %s --seeds 2 --no-reference 2>&1 | FileCheck %s

kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  kiln.scope {
    %x = kiln.alloc() : !kiln.tensor<4x8xf32>
    %a = kiln.submit @fill(%x)
  }
  %b = kiln.submit @copy(%x, %y)
  // CHECK: mem-alloc-after-its-scope.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: custom op 'kiln.submit' use of undeclared value '%x'
}
