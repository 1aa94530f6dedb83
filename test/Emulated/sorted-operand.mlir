// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 | FileCheck %s

// Rows in order are in shared memory. Moved to where the matrix unit reads a left operand they stay there, and from there
// they are read into registers.

// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) orchestration {
  kiln.incore "k" split(none) {
    %v = tile.load %x[0, 0] : !tile.tile<8x8xf32>
    %values, %columns = tile.sort_rows %v : !tile.tile<8x8xf32>, !tile.tile<8x8xi32>
    %left = tile.move %values : !tile.tile<8x8xf32, left>
    %back = tile.move %left : !tile.tile<8x8xf32>
    %t = tile.exp %back : !tile.tile<8x8xf32>
    tile.store %t, %y[0, 0]
  }
}
