// Writes the first 32 rows only.
kiln.func @k(%x: !kiln.tensor<?x16xf32>, %y: !kiln.tensor<?x16xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<32x16xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x16xf32> in, %y: !kiln.tensor<?x16xf32> out) orchestration {
  %t = kiln.submit @k(%x, %y)
}
