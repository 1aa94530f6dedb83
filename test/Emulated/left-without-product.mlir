// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 | FileCheck %s

// A tile in the memory of left sides that nobody multiplies is not packed for the matrix unit.

// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<64x64xbf16> in, %y: !kiln.tensor<64x64xbf16> out, %z: !kiln.tensor<8x8xf32> in, %w: !kiln.tensor<8x8xf32> out) orchestration {
  kiln.incore "k" split(none) {
    %a = tile.load %x[0, 0] : !tile.tile<64x64xbf16>
    %b = tile.move %a : !tile.tile<64x64xbf16, left>
    %c = tile.move %b : !tile.tile<64x64xbf16>
    %d = tile.add %c, %a : !tile.tile<64x64xbf16>
    tile.store %d, %y[0, 0]
  }
  kiln.incore "l" split(none) {
    %a = tile.load %z[0, 0] : !tile.tile<8x8xf32>
    %b = tile.move %a : !tile.tile<8x8xf32, left>
    %c = tile.move %b : !tile.tile<8x8xf32>
    %d = tile.add %c, %a : !tile.tile<8x8xf32>
    tile.store %d, %w[0, 0]
  }
}
