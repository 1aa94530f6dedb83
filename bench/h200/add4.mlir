// e = a + b + c + d, one tile: a kernel that takes less time than its launch.
kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %b: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> in, %d: !kiln.tensor<?x?xf32> in, %e: !kiln.tensor<?x?xf32> out) orchestration {
  %c1 = arith.constant 1 : index
  kiln.incore "add4" grid(%c1) {
    %at = tile.load %a[0, 0] : !tile.tile<8x8xf32>
    %bt = tile.load %b[0, 0] : !tile.tile<8x8xf32>
    %ct = tile.load %c[0, 0] : !tile.tile<8x8xf32>
    %dt = tile.load %d[0, 0] : !tile.tile<8x8xf32>
    %ab = tile.add %at, %bt : !tile.tile<8x8xf32>
    %abc = tile.add %ab, %ct : !tile.tile<8x8xf32>
    %abcd = tile.add %abc, %dt : !tile.tile<8x8xf32>
    tile.store %abcd, %e[0, 0]
  }
}
