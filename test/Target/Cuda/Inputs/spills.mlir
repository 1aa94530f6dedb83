kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %a = tile.load %x[0, 0] : !tile.tile<128x256xf32>
    %b = tile.load %x[128, 0] : !tile.tile<128x256xf32>
    %c = tile.load %x[256, 0] : !tile.tile<128x256xf32>
    %d = tile.mul %a, %b : !tile.tile<128x256xf32>
    %e = tile.exp %d : !tile.tile<128x256xf32>
    %f = tile.mul %a, %c : !tile.tile<128x256xf32>
    %g = tile.add %e, %f : !tile.tile<128x256xf32>
    %h = tile.add %g, %b : !tile.tile<128x256xf32>
    tile.store %h, %y[0, 0]
    tile.store %d, %y[128, 0]
    tile.store %f, %y[256, 0]
  }
}
