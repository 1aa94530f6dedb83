// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 | FileCheck %s

// An exclusive scan begins with the greatest or least number of its type, which of these floats is no infinity.

// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<8x64xf8E4M3FN> in, %y: !kiln.tensor<8x64xf8E4M3FN> out, %z: !kiln.tensor<8x64xf8E4M3FN> out) orchestration {
  kiln.incore "k" split(none) {
    %v = tile.load %x[0, 0] : !tile.tile<8x64xf8E4M3FN>
    %a = tile.scan min %v axis(1) exclusive reverse : !tile.tile<8x64xf8E4M3FN>
    %b = tile.scan max %v axis(0) exclusive : !tile.tile<8x64xf8E4M3FN>
    tile.store %a, %y[0, 0]
    tile.store %b, %z[0, 0]
  }
}
