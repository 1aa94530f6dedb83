// The right operand of a product is made in registers, so threads write it to shared memory for the matrix unit.
kiln.func @main(%x: !kiln.tensor<64x64xbf16> in, %y: !kiln.tensor<64x64xf32> out) orchestration {
  kiln.incore "k" split(none) {
    %v = tile.load %x[0, 0] : !tile.tile<64x64xbf16>
    %w = tile.add %v, %v : !tile.tile<64x64xbf16>
    %z = tile.matmul %v, %w : !tile.tile<64x64xf32>
    tile.store %z, %y[0, 0]
  }
}
