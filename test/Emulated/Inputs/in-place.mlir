// A lane reads what it is about to overwrite, and then what other warps wrote.
kiln.func @main(%a: !kiln.tensor<?x?xf32> inout) orchestration {
  kiln.incore "k" split(none) {
    %x = tile.load %a[0, 0] : !tile.tile<64x64xf32>
    %r = tile.load %a[0, 0] : !tile.tile<1x64xf32>
    %y = tile.sub %x, %r : !tile.tile<64x64xf32>
    tile.store %y, %a[0, 0]
    %z = tile.load %a[1, 0] : !tile.tile<32x64xf32>
    tile.store %z, %a[0, 0]
  }
}
