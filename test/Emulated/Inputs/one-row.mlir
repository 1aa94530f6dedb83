// One row, so all warps of a lane share it, and tell each other what they found.
kiln.func @main(%x: !kiln.tensor<?x1024xf32> in, %y: !kiln.tensor<?x1xf32> out) orchestration {
  %rows = kiln.dim %x, 0
  kiln.incore "k" grid(%rows) split(none) {
    %i = tile.block_idx 0
    %v = tile.load %x[%i, 0] : !tile.tile<1x1024xf32>
    %s = tile.reduce sum %v axis(1) : !tile.tile<1x1xf32>
    tile.store %s, %y[%i, 0]
  }
}
