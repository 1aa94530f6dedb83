kiln.func @k(%x: !kiln.tensor<4x5xf32>, %y: !kiln.tensor<4x1xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %m = tile.reduce max %t axis(1) : !tile.tile<4x1xf32>
  tile.store %m, %y[0, 0]
}
