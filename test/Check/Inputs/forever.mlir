// A loop that never ends.
kiln.func @k(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %n = scf.while (%i = %c0) : (index) -> index {
    %c = arith.cmpi sge, %i, %c0 : index
    scf.condition(%c) %i : index
  } do {
  ^bb0(%j: index):
    %k = arith.addi %j, %c1 : index
    tile.store %t, %y[0, 0]
    scf.yield %k : index
  }
}
