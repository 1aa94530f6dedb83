// Whole numbers near a number, truth values as numbers, indices along both axes, and triangles.
kiln.func @count(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out, %i: !kiln.tensor<?x64xi32> out) incore {
  %c16 = arith.constant 16 : index
  %c-2 = arith.constant -2 : index
  %b = tile.block_idx 0
  %row = arith.muli %b, %c16 : index
  %a = tile.load %x[%row, 0] : !tile.tile<16x64xf32>
  %down = tile.floor %a : !tile.tile<16x64xf32>
  %up = tile.ceil %a : !tile.tile<16x64xf32>
  %zero = tile.trunc %a : !tile.tile<16x64xf32>
  %near = tile.round %a : !tile.tile<16x64xf32>
  %s0 = tile.sub %up, %down : !tile.tile<16x64xf32>
  %s1 = tile.mul %s0, %near : !tile.tile<16x64xf32>
  %s2 = tile.add %s1, %zero : !tile.tile<16x64xf32>
  %lower = tile.mask_diag %s2 offset(%row) pad(-3.0) : !tile.tile<16x64xf32>
  %rows = tile.iota axis(0) : !tile.tile<16x64xf32>
  %line = tile.iota axis(1) : !tile.tile<1x64xf32>
  %s3 = tile.add %lower, %rows : !tile.tile<16x64xf32>
  %s4 = tile.sub %s3, %line : !tile.tile<16x64xf32>
  %upper = tile.mask_diag %s4 offset(%c-2) pad(zero) : !tile.tile<16x64xf32>
  %s5 = tile.add %s4, %upper : !tile.tile<16x64xf32>
  %rounded = tile.cmp lt %near, %a : !tile.tile<16x64xi1>
  %down_by = tile.cast %rounded : !tile.tile<16x64xf32>
  %s6 = tile.sub %s5, %down_by : !tile.tile<16x64xf32>
  tile.store %s6, %y[%row, 0]
  %columns = tile.iota axis(1) : !tile.tile<16x64xi32>
  tile.store %columns, %i[%row, 0]
}
kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out, %i: !kiln.tensor<?x64xi32> out) orchestration {
  %c16 = arith.constant 16 : index
  %n = kiln.dim %x, 0
  %m = arith.ceildivsi %n, %c16 : index
  %t = kiln.submit @count(%x, %y, %i) grid(%m)
}
