// Small tiles with loads of their own in each block: the copying role needs more than its least registers.
kiln.func @main(%a: !kiln.tensor<?x?xbf16>, %w: !kiln.tensor<?x?xbf16>, %y: !kiln.tensor<?x?xbf16>) orchestration {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %rows = kiln.dim %a, 0
  %blocks = arith.ceildivsi %rows, %c16 : index
  kiln.incore "k" grid(%blocks) {
    %first = arith.constant 0 : index
    %step = arith.constant 16 : index
    %b = tile.block_idx 0
    %i = arith.muli %b, %step : index
    %n = kiln.dim %w, 1
    %at = tile.load %a[%i, 0] : !tile.tile<16x16xbf16>
    scf.for %j = %first to %n step %step {
      %wt = tile.load %w[0, %j] : !tile.tile<16x16xbf16>
      %p = tile.matmul %at, %wt : !tile.tile<16x16xf32>
      %r = tile.cast %p : !tile.tile<16x16xbf16>
      tile.store %r, %y[%i, %j]
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  }
}
