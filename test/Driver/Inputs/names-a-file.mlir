// Says that it was written in a file that is no source.
kiln.func @roots(%x: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x32xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x32xf32> loc("/etc/passwd":1:1)
  tile.store %t, %y[0, 0]
}
