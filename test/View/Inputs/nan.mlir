// Roots of numbers of both signs.
kiln.func @roots(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  %r = tile.sqrt %t : !tile.tile<16x32xf32>
  tile.store %r, %y[0, 0]
}
