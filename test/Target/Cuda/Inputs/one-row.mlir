kiln.func @main(%a: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?x?xbf16>, %c: !kiln.tensor<?x?xbf16>) orchestration {
  kiln.incore "vector_times_matrix" {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<1x64xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<1x64xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<1x64xbf16>
      %y = tile.load %b[%at, 0] : !tile.tile<64x64xbf16>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<1x64xf32>
      scf.yield %next : !tile.tile<1x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    %r = tile.cast %sum : !tile.tile<1x64xbf16>
    tile.store %r, %c[0, 0]
  }
}
