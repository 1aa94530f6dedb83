// What is only written cannot be read before: a declared direction is a promise.
// RUN: not %kiln run %s --seeds 2 --no-reference 2>&1 | FileCheck %s

// CHECK: mem-out-parameter-is-read.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}'y'{{.*}}out
kiln.func @k(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<4x8xf32>
  %s = tile.add %a, %b : !tile.tile<4x8xf32>
  tile.store %s, %y[0, 0]
}
