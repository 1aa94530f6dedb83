// A product with one row, whose left operand comes through shared memory; loops of any number of steps.
kiln.func @main(%a: !kiln.tensor<?x?xbf16> in, %b: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
  %c64 = arith.constant 64 : index
  %cols = kiln.dim %c, 1
  %blocks = arith.ceildivsi %cols, %c64 : index
  kiln.incore "k" grid(%blocks) {
    %c0 = arith.constant 0 : index
    %step = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %block = tile.block_idx 0
    %j = arith.muli %block, %step : index
    %start = tile.full %zero : !tile.tile<1x64xf32>
    %sum = scf.for %at = %c0 to %k step %step iter_args(%acc = %start) -> (!tile.tile<1x64xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<1x64xbf16>
      %y = tile.load %b[%at, %j] : !tile.tile<64x64xbf16>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<1x64xf32>
      scf.yield %next : !tile.tile<1x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    %r = tile.cast %sum : !tile.tile<1x64xbf16>
    tile.store %r, %c[0, %j]
  }
}
