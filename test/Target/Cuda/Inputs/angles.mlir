// The sine and cosine of any number, and the larger and smaller of zeros.
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %z: !kiln.tensor<?x?xf32>, %sine: !kiln.tensor<?x?xf32>, %cosine: !kiln.tensor<?x?xf32>, %one: !kiln.tensor<?x?xf32>, %other: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<16x64xf32>
    %s = tile.sin %v : !tile.tile<16x64xf32>
    tile.store %s, %sine[0, 0]
    %c = tile.cos %v : !tile.tile<16x64xf32>
    tile.store %c, %cosine[0, 0]
    %a = tile.load %z[0, 0] : !tile.tile<16x64xf32>
    %zero = arith.constant 0.0 : f32
    %unit = arith.constant 1.0 : f32
    %larger = tile.max %a, %zero : !tile.tile<16x64xf32>
    %q = tile.div %unit, %larger : !tile.tile<16x64xf32>
    tile.store %q, %one[0, 0]
    %smaller = tile.min %zero, %a : !tile.tile<16x64xf32>
    %r = tile.div %unit, %smaller : !tile.tile<16x64xf32>
    tile.store %r, %other[0, 0]
  }
}
