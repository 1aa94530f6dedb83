// Every block writes the same rows.
kiln.func @same(%y: !kiln.tensor<4x8xf32>) incore {
  %block = tile.block_idx 0
  %value = arith.constant 1.0 : f32
  %t = tile.full %value : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %a = kiln.submit @same(%y) grid(4)
}
