// In a manual scope nobody orders the reader after the writer.
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @fill(%x)
    %b = kiln.submit @copy(%x, %y)
  }
}
