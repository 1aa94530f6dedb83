kiln.func @vec(%x: !kiln.tensor<8x8xf32> in, %p: !tile.pipe<aiv -> aic, 8x8xf32>) role(aiv) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
}
