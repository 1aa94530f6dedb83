// What the matrix unit leaves goes to memory as it is: two lanes of 64 rows, f32.
kiln.func @main(%a: !kiln.tensor<?x?xbf16> in, %b: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
  kiln.incore "k" {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<128x64xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<128x64xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<128x64xbf16>
      %y = tile.load %b[%at, 0] : !tile.tile<64x64xbf16>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x64xf32>
      scf.yield %next : !tile.tile<128x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    tile.store %sum, %c[0, 0]
  }
}
