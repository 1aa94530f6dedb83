// Rows of several panels that are no multiple of 8: a panel does not begin where the pattern of swizzling does.
kiln.func @main(%a: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?x?xbf16>, %c: !kiln.tensor<?x?xf32>, %d: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "rows" {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 0
    %start = tile.full %zero : !tile.tile<1x256xf32>
    %sum = scf.for %at = %c0 to %k step %c1 iter_args(%acc = %start) -> (!tile.tile<1x256xf32>) {
      %x = tile.load %a[%at, 0] : !tile.tile<1x256xbf16>
      %w = tile.cast %x : !tile.tile<1x256xf32>
      %next = tile.add %acc, %w : !tile.tile<1x256xf32>
      scf.yield %next : !tile.tile<1x256xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    tile.store %sum, %c[0, 0]
  }
  kiln.incore "product" {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<20x64xf32>
    %sum = scf.for %at = %c0 to %k step %c128 iter_args(%acc = %start) -> (!tile.tile<20x64xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<20x128xbf16>
      %y = tile.load %b[%at, 0] : !tile.tile<128x64xbf16>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<20x64xf32>
      scf.yield %next : !tile.tile<20x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    tile.store %sum, %d[0, 0]
  }
}
