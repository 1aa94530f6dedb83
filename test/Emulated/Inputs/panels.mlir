// Tiles of one row and several panels of 64 columns: what a swizzled panel begins with is no multiple of eight rows.
kiln.func @main(%a: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<1x?xf32> out) orchestration {
  kiln.incore "k" {
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
}
